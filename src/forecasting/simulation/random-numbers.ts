const SEED_WORDS = 4;
/** Numbers until the words of a seed are mixed. */
const WARM_UP = 12;

/**
 * Pseudorandom numbers in [0, 1) (sfc32), the same for the same seed.
 * @param seed 16 bytes, such as of a digest
 */
export function randomNumbers(seed: Uint8Array): () => number {
  const view = new DataView(seed.buffer, seed.byteOffset);
  let [a, b, c, count] = Array.from({ length: SEED_WORDS }, (_, i) => view.getInt32(4 * i));
  const next = () => {
    const sum = (((a + b) | 0) + count) | 0;
    count = (count + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < WARM_UP; i++) next();
  return next;
}
