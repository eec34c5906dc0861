/** Reversed Castagnoli polynomial: the checksum of Kafka's record batches. */
const POLYNOMIAL = 0x82f63b78;

/** TABLES[k * 256 + b]: the effect of byte b followed by k zero bytes. Eight of them let one step take eight bytes. */
const TABLES = makeTables();

function makeTables(): Int32Array {
  const made = new Int32Array(8 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? POLYNOMIAL : 0);
    made[byte] = value;
  }
  for (let at = 256; at < made.length; at++) {
    const previous = made[at - 256];
    made[at] = (previous >>> 8) ^ made[previous & 255];
  }
  return made;
}

/** CRC-32C of bytes[start, end), an unsigned 32-bit number. */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length): number {
  const t = TABLES;
  let crc = -1;
  let at = start;
  for (const last = end - 7; at < last; at += 8) {
    crc ^= bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    crc =
      t[1792 + (crc & 255)] ^
      t[1536 + ((crc >>> 8) & 255)] ^
      t[1280 + ((crc >>> 16) & 255)] ^
      t[1024 + (crc >>> 24)] ^
      t[768 + bytes[at + 4]] ^
      t[512 + bytes[at + 5]] ^
      t[256 + bytes[at + 6]] ^
      t[bytes[at + 7]];
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ t[(crc ^ bytes[at]) & 255];
  return ~crc >>> 0;
}
