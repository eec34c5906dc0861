/**
 * crc32c.wat, compiled by `npm run generate`. Node.js has no CRC-32C of
 * its own: that of zlib has another polynomial.
 */
const CHECKSUM_BINARY = `
AGFzbQEAAAABCAFgA39/fwF/AwIBAAUDAQABBxMCBm1lbW9yeQIABmV4dGVuZAAACtECAc4CAQR/AkADQCABQRBqIAJLDQEgACABKAIAcyEDIAEoAgQh
BCABKAIIIQUgASgCDCEGIARBAnRB/AdxKAKAWCAEQQZ2QfwHcSgCgFBzIARBDnZB/AdxKAKASHMgBEEWdkH8B3EoAoBAcyAFQQJ0QfwHcSgCgDhzIAVB
BnZB/AdxKAKAMHMgBUEOdkH8B3EoAoAocyAFQRZ2QfwHcSgCgCBzIAZBAnRB/AdxKAKAGHMgBkEGdkH8B3EoAoAQcyAGQQ52QfwHcSgCgAhzIAZBFnZB
/AdxKAIAcyADQQJ0QfwHcSgCgHhzIANBBnZB/AdxKAKAcHMgA0EOdkH8B3EoAoBocyADQRZ2QfwHcSgCgGBzIQAgAUEQaiEBDAALCwJAA0AgASACTw0B
IABBCHYgACABLQAAc0H/AXFBAnQoAgBzIQAgAUEBaiEBDAALCyAACw==
`;

interface ChecksumKernel {
  readonly memory: { readonly buffer: ArrayBuffer };
  /** Continues from a checksum over bytes [start, end) of the memory. */
  extend(crc: number, start: number, end: number): number;
}

const KERNEL = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(CHECKSUM_BINARY, 'base64')))
  .exports as ChecksumKernel;

/** Reversed Castagnoli polynomial: the checksum of Kafka's record batches. */
const POLYNOMIAL = 0x82f63b78;
/** Bytes of each step of sixteen have a table of their own. */
const TABLES = 16;
const BYTES_AT = TABLES * 1_024;
/** Bytes that are copied at once: with the tables they fit into the first cache. */
const CHUNK_BYTES = 16_384;
const CHUNK = new Uint8Array(KERNEL.memory.buffer, BYTES_AT, CHUNK_BYTES);

fillTables(new Int32Array(KERNEL.memory.buffer, 0, TABLES * 256));

/** `made[k * 256 + b]`: the effect of byte b followed by k zero bytes. */
function fillTables(made: Int32Array): void {
  for (let byte = 0; byte < 256; byte++) {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? POLYNOMIAL : 0);
    made[byte] = value;
  }
  for (let at = 256; at < made.length; at++) {
    const previous = made[at - 256];
    made[at] = (previous >>> 8) ^ made[previous & 255];
  }
}

/** CRC-32C of bytes[start, end), an unsigned 32-bit number. */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length): number {
  let crc = -1;
  for (let at = start; at < end; at += CHUNK_BYTES) {
    const chunk = bytes.subarray(at, Math.min(end, at + CHUNK_BYTES));
    CHUNK.set(chunk);
    crc = KERNEL.extend(crc, BYTES_AT, BYTES_AT + chunk.length);
  }
  return ~crc >>> 0;
}
