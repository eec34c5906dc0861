/** Buffers of many records are parts of one slab: Buffer.from() would allocate for every dozen of them. */
const SLAB_BYTES = 256 * 1024;
let slab = Buffer.alloc(0);
let slabUsed = 0;

/** The bytes of a text. The buffer belongs to the caller. */
export function bytesOfText(text: string): Buffer {
  const most = 3 * text.length;
  if (most > SLAB_BYTES) return Buffer.from(text);
  reserve(most);
  return used(slab.write(text, slabUsed));
}

/** A copy of bytes, at most SLAB_BYTES. The buffer belongs to the caller. */
export function copyOf(bytes: Uint8Array): Buffer {
  reserve(bytes.length);
  slab.set(bytes, slabUsed);
  return used(bytes.length);
}

function reserve(bytes: number): void {
  if (slabUsed + bytes <= slab.length) return;
  slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
  slabUsed = 0;
}

function used(bytes: number): Buffer {
  const start = slabUsed;
  slabUsed += bytes;
  return slab.subarray(start, slabUsed);
}
