/**
 * Zigzag varints of Kafka's record format: seven bits in each byte, the lowest first. The functions for int32 use
 * integer arithmetic, and the long ones (timestamp deltas) too where they can. They take integers of at most 52 bits.
 */

export function varintBytes(value: number): number {
  const zigzag = ((value << 1) ^ (value >> 31)) >>> 0;
  if (zigzag < 0x80) return 1;
  if (zigzag < 0x4000) return 2;
  if (zigzag < 0x20_0000) return 3;
  return zigzag < 0x1000_0000 ? 4 : 5;
}

/** Returns the offset after the written bytes. */
export function writeVarint(out: Uint8Array, at: number, value: number): number {
  let rest = ((value << 1) ^ (value >> 31)) >>> 0;
  let next = at;
  while (rest > 127) {
    out[next++] = (rest & 127) | 128;
    rest >>>= 7;
  }
  out[next] = rest;
  return next + 1;
}

export function varlongBytes(value: number): number {
  if ((value | 0) === value) return varintBytes(value);
  let bytes = 1;
  for (let rest = zigzagLong(value); rest > 127; rest = Math.floor(rest / 128)) bytes++;
  return bytes;
}

export function writeVarlong(out: Uint8Array, at: number, value: number): number {
  if ((value | 0) === value) return writeVarint(out, at, value);
  let next = at;
  let rest = zigzagLong(value);
  for (; rest > 127; rest = Math.floor(rest / 128)) out[next++] = (rest % 128) | 128;
  out[next] = rest;
  return next + 1;
}

function zigzagLong(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

/** A read position in bytes. One cursor serves a whole batch: no allocation for each record. */
export interface ByteCursor {
  readonly bytes: Uint8Array;
  at: number;
}

export function readVarint(cursor: ByteCursor): number {
  const { bytes } = cursor;
  let byte = bytes[cursor.at++];
  if (byte < 128) return (byte >>> 1) ^ -(byte & 1);
  let zigzag = byte & 127;
  for (let shift = 7; byte > 127 && shift < 35; shift += 7) {
    byte = bytes[cursor.at++];
    zigzag |= (byte & 127) << shift;
  }
  return (zigzag >>> 1) ^ -(zigzag & 1);
}

export function readVarlong(cursor: ByteCursor): number {
  const { bytes } = cursor;
  let byte = bytes[cursor.at++];
  let zigzag = byte & 127;
  for (let scale = 128; byte > 127 && scale < 2 ** 63; scale *= 128) {
    byte = bytes[cursor.at++];
    zigzag += (byte & 127) * scale;
  }
  return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
}
