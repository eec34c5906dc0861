import { gunzipSync, zstdDecompressSync } from 'node:zlib';

/** What one compressed record batch may inflate to, bytes. Beyond it decoding fails instead of filling the memory. */
export const batchInflatedBytesMax = 128 * 1024 * 1024;

const names = ['none', 'gzip', 'snappy', 'lz4', 'zstd'];

/** Inflates the records of a batch; `codec` as in the batch's attributes. Throws on a damaged or unknown one. */
export function decompress(codec: number, bytes: Buffer): Buffer {
  const limit = { maxOutputLength: batchInflatedBytesMax };
  if (codec === 1) return gunzipSync(bytes, limit);
  if (codec === 4) return zstdDecompressSync(bytes, limit);
  throw new Error(`Records compressed with ${names[codec] ?? `codec ${codec}`} cannot be read`);
}
