import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { InflatedBytes } from './inflated-bytes.ts';
import { inflateSnappy } from './snappy.ts';

const FRAME_MAGIC = 0x184d2204;
const BLOCK_CHECKSUM_FLAG = 0x10;
const CONTENT_SIZE_FLAG = 0x08;
const DICTIONARY_FLAG = 0x01;
const STORED_FLAG = 0x8000_0000;

/**
 * Inflates an LZ4 frame: magic u32 | flags u8 | block size u8 | [content size u64] | header checksum u8 | [size u32 |
 * block | [checksum u32]] | 0 u32. Does not verify checksums. Throws on damaged bytes, or more than `bytesMax` of
 * output.
 */
export function inflateLz4(bytes: Buffer, bytesMax: number): Buffer {
  if (bytes.length < 7 || bytes.readUInt32LE(0) !== FRAME_MAGIC) throw new Error('Not an LZ4 frame');
  const flags = bytes[4];
  if (flags & DICTIONARY_FLAG) throw new Error('An LZ4 frame needs a dictionary');
  const checksumBytes = flags & BLOCK_CHECKSUM_FLAG ? 4 : 0;
  const out = new InflatedBytes(bytesMax, 4 * bytes.length);
  let at = 7 + (flags & CONTENT_SIZE_FLAG ? 8 : 0);
  for (;;) {
    const size = bytes.readUInt32LE(at);
    if (size === 0) return out.finish();
    const start = at + 4;
    const end = start + (size & 0x7fff_ffff);
    if (end > bytes.length) throw new Error('An LZ4 block is cut off');
    if (size >= STORED_FLAG) out.append(bytes, start, end);
    else inflateBlock(bytes.subarray(start, end), out);
    at = end + checksumBytes;
  }
}

/** Sequences of a token, literals, and a copy; the last one has literals only. */
function inflateBlock(block: Buffer, out: InflatedBytes): void {
  let at = 0;
  /** Four bits of the token, and further bytes while they are full. */
  const length = (nibble: number): number => {
    let sum = nibble;
    if (nibble < 15) return sum;
    let byte: number;
    do {
      byte = block.readUInt8(at++);
      sum += byte;
    } while (byte === 255);
    return sum;
  };
  while (at < block.length) {
    const token = block[at++];
    const literals = length(token >>> 4);
    out.append(block, at, at + literals);
    at += literals;
    if (at >= block.length) return;
    const distance = block.readUInt16LE(at);
    at += 2;
    out.repeat(distance, length(token & 15) + 4);
  }
}

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
