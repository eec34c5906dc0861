/**
 * Bytes of records and batches that are used again. V8 marks the whole heap whenever 64 MiB of buffers were made, which
 * was a fifth of the processor time of a worker. Who takes bytes gives them back once nothing refers to them; bytes
 * that are never given back are garbage, as any others.
 */

/** Records are parts of slabs. */
const SLAB_BYTES = 256 * 1024;
/** Slabs, and bytes of batches and responses, that wait to be used again. */
const FREE_SLABS_MAX = 32;
const FREE_BATCH_BYTES_MAX = 16 * 1024 * 1024;
/** Smaller batches are not kept: a request copies them. */
const BATCH_BYTES_MIN = 16 * 1024;

class Slab {
  readonly bytes = Buffer.allocUnsafeSlow(SLAB_BYTES);
  used = 0;
  /** Records in it that were not given back. */
  records = 0;
}

const slabs = new WeakMap<ArrayBufferLike, Slab>();
const freeSlabs: Slab[] = [];
let current = newSlab();

function newSlab(): Slab {
  const slab = new Slab();
  slabs.set(slab.bytes.buffer, slab);
  return slab;
}

/** A copy of the bytes of a record, at most SLAB_BYTES, until `giveBackRecords`. */
export function takeRecord(bytes: Uint8Array): Buffer {
  if (current.used + bytes.length > SLAB_BYTES) {
    if (current.records > 0) current = freeSlabs.pop() ?? newSlab();
    current.used = 0;
  }
  const start = current.used;
  current.bytes.set(bytes, start);
  current.used += bytes.length;
  current.records++;
  return current.bytes.subarray(start, current.used);
}

/** Each record once, and only if nothing refers to its value any more. Values of other origin are passed over. */
export function giveBackRecords(records: readonly { readonly value: Buffer | null }[]): void {
  let buffer: ArrayBufferLike | null = null;
  let slab: Slab | undefined;
  for (const { value } of records) {
    if (value === null) continue;
    if (value.buffer !== buffer) {
      buffer = value.buffer;
      slab = slabs.get(buffer);
    }
    if (slab === undefined || --slab.records > 0 || slab === current || freeSlabs.length >= FREE_SLABS_MAX) continue;
    freeSlabs.push(slab);
  }
}

/** Only these are kept: a batch of other origin may be a part of Node's pool. */
const ownBatches = new WeakSet<ArrayBufferLike>();
/** By the power of two that is their length. */
const freeBatches = new Map<number, Buffer[]>();
let freeBatchBytes = 0;

/** Uninitialised bytes of a batch, until `giveBackBatch`. */
export function takeBatch(bytes: number): Buffer {
  if (bytes < BATCH_BYTES_MIN) return Buffer.allocUnsafe(bytes);
  const length = 2 ** Math.ceil(Math.log2(bytes));
  const free = freeBatches.get(length)?.pop();
  if (free === undefined) {
    const made = Buffer.allocUnsafeSlow(length);
    ownBatches.add(made.buffer);
    return made.subarray(0, bytes);
  }
  freeBatchBytes -= length;
  return free.subarray(0, bytes);
}

/** Once, and only if no request that has these bytes is on its way. Batches of other origin are passed over. */
export function giveBackBatch({ buffer }: Buffer): void {
  const { byteLength: length } = buffer;
  if (!ownBatches.has(buffer) || length > FREE_BATCH_BYTES_MAX) return;
  if (freeBatchBytes + length > FREE_BATCH_BYTES_MAX) {
    // Lengths that are not taken any more, such as those of a restore, must not keep out the others.
    freeBatches.clear();
    freeBatchBytes = 0;
  }
  const free = freeBatches.get(length) ?? [];
  if (free.length === 0) freeBatches.set(length, free);
  free.push(Buffer.from(buffer));
  freeBatchBytes += length;
}
