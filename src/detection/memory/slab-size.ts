/**
 * Blocks of the first slab; each further one has twice as many, up to so many bytes. A worker with many partitions has
 * few series in each. The system allocates large slabs apart from what comes and goes (MALLOC_MMAP_THRESHOLD_ of the
 * image), so that no gaps are between them, and takes memory for blocks as they are used.
 */
export const BLOCKS_MIN = 4;
const SLAB_BYTES_MAX = 512 * 1024;
/** The system allocates large slabs as whole pages, with so many bytes of its own. */
const [PAGE_BYTES, ALLOCATION_BYTES] = [4_096, 16];

/** Blocks of the largest slabs: of the larger half of all numbers that fit, the one whose last page is fullest. */
export function blocksMax(blockBytes: number): number {
  const most = Math.floor(SLAB_BYTES_MAX / blockBytes);
  const unusedBytes = (blocks: number) => PAGE_BYTES - ((blocks * blockBytes + ALLOCATION_BYTES) % PAGE_BYTES);
  let best = most;
  for (let blocks = most; blocks > most / 2; blocks--) {
    if (unusedBytes(blocks) / blocks < unusedBytes(best) / best) best = blocks;
  }
  return best;
}
