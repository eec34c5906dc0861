import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { crc32c } from './crc32c.ts';
import { HEADER_BYTES, LENGTH_PREFIX_BYTES } from './record-batch-layout.ts';

export type Compression = 'none' | 'gzip' | 'zstd';

/** Level 3, the default, takes twice the time for records that are alike, and finds no more in them. */
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const CODECS = {
  gzip: { code: 1, compress: (bytes: Buffer) => gzipSync(bytes) },
  zstd: { code: 4, compress: (bytes: Buffer) => zstdCompressSync(bytes, ZSTD) },
} as const;
/** Smaller batches gain nothing. */
const BATCH_BYTES_MIN = 512;

/** Compresses the records of an encoded batch. Returns the batch as it is where that gains nothing. */
export function compressBatch(batch: Buffer, compression: Compression): Buffer {
  if (compression === 'none' || batch.length < BATCH_BYTES_MIN) return batch;
  const { code, compress } = CODECS[compression];
  const records = compress(batch.subarray(HEADER_BYTES));
  if (records.length >= batch.length - HEADER_BYTES) return batch;
  const compressed = Buffer.concat([batch.subarray(0, HEADER_BYTES), records]);
  compressed.writeInt32BE(compressed.length - LENGTH_PREFIX_BYTES, 8);
  compressed.writeInt16BE(compressed.readInt16BE(21) | code, 21);
  compressed.writeUInt32BE(crc32c(compressed, 21), 17);
  return compressed;
}
