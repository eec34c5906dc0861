import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { inflateLz4 } from './lz4.ts';
import { inflateSnappy } from './snappy.ts';

/**
 * Most bytes that a compressed record batch may inflate to. Beyond it decoding fails, so that the memory stays bounded.
 */
const BATCH_INFLATED_BYTES_MAX = 128 * 1024 * 1024;

/**
 * Inflates the records of a batch. `codec` is that of the batch's attributes. Throws on damaged bytes and unknown
 * codecs.
 */
export function decompress(codec: number, bytes: Buffer, bytesMax = BATCH_INFLATED_BYTES_MAX): Buffer {
  if (codec === 1) return gunzipSync(bytes, { maxOutputLength: bytesMax });
  if (codec === 2) return inflateSnappy(bytes, bytesMax);
  if (codec === 3) return inflateLz4(bytes, bytesMax);
  if (codec === 4) return zstdDecompressSync(bytes, { maxOutputLength: bytesMax });
  throw new Error(`Records compressed with codec ${codec} cannot be read`);
}
