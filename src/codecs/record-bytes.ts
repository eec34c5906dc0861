/** Buffers of many records are parts of one slab: Buffer.from() would allocate for every dozen of them. */
const SLAB_BYTES = 256 * 1024;
let slab = Buffer.alloc(0);
let slabUsed = 0;

/** The bytes of a text. The buffer belongs to the caller. */
export function bytesOfText(text: string): Buffer {
  const most = 3 * text.length;
  if (most > SLAB_BYTES) return Buffer.from(text);
  if (slabUsed + most > slab.length) {
    slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
    slabUsed = 0;
  }
  const start = slabUsed;
  slabUsed += slab.write(text, start);
  return slab.subarray(start, slabUsed);
}
