import { InflatedBytes } from './inflated-bytes.ts';

/**
 * The Java clients put blocks into a frame: this magic, version i32, oldest readable version i32, then [length i32 |
 * block].
 */
const FRAME_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const FRAME_HEADER_BYTES = 16;

/** Inflates Snappy, framed or a single block. Throws on damaged bytes, or more than `bytesMax` of output. */
export function inflateSnappy(bytes: Buffer, bytesMax: number): Buffer {
  const out = new InflatedBytes(bytesMax, 4 * bytes.length);
  if (!bytes.subarray(0, 8).equals(FRAME_MAGIC)) {
    inflateBlock(bytes, out);
    return out.finish();
  }
  for (let at = FRAME_HEADER_BYTES; at < bytes.length; ) {
    const start = at + 4;
    at = start + bytes.readInt32BE(at);
    if (at < start || at > bytes.length) throw new Error('A Snappy block is cut off');
    inflateBlock(bytes.subarray(start, at), out);
  }
  return out.finish();
}

/** A block: its inflated length as a varint, then literals and copies, which the lowest two bits of a tag name. */
function inflateBlock(block: Buffer, out: InflatedBytes): void {
  let at = 0;
  while (block[at] > 127) at++;
  at++;
  while (at < block.length) {
    const tag = block[at++];
    const high = tag >>> 2;
    switch (tag & 3) {
      case 0: {
        let length = high + 1;
        if (high >= 60) {
          const lengthBytes = high - 59;
          length = block.readUIntLE(at, lengthBytes) + 1;
          at += lengthBytes;
        }
        out.append(block, at, at + length);
        at += length;
        break;
      }
      case 1:
        out.repeat(((tag >>> 5) << 8) | block.readUInt8(at), (high & 7) + 4);
        at += 1;
        break;
      case 2:
        out.repeat(block.readUInt16LE(at), high + 1);
        at += 2;
        break;
      default:
        out.repeat(block.readUInt32LE(at), high + 1);
        at += 4;
    }
  }
}
