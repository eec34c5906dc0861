import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { inflateLz4 } from './lz4.ts';
import { inflateSnappy } from './snappy.ts';

/** What one compressed record batch may inflate to, bytes. Beyond it decoding fails instead of filling the memory. */
const batchInflatedBytesMax = 128 * 1024 * 1024;

/** Inflates the records of a batch; `codec` as in the batch's attributes. Throws on damaged or unknown ones. */
export function decompress(codec: number, bytes: Buffer, bytesMax = batchInflatedBytesMax): Buffer {
  if (codec === 1) return gunzipSync(bytes, { maxOutputLength: bytesMax });
  if (codec === 2) return inflateSnappy(bytes, bytesMax);
  if (codec === 3) return inflateLz4(bytes, bytesMax);
  if (codec === 4) return zstdDecompressSync(bytes, { maxOutputLength: bytesMax });
  throw new Error(`Records compressed with codec ${codec} cannot be read`);
}
