/** First bytes of numbers. Smaller ones are the number itself. */
const NUMBER_TAGS = {
  notANumber: 0xf8,
  minusInfinity: 0xf9,
  u16: 0xfa,
  u32: 0xfb,
  u48: 0xfc,
  f32: 0xfd,
  f64: 0xfe,
};
const SMALL_NUMBER_MAX = NUMBER_TAGS.notANumber - 1;
const U48_MAX = 2 ** 48 - 1;
/** Bytes behind the tag, from that of u16 on. */
const BYTES_BEHIND = [2, 4, 6, 4, 8, 0];
export const NUMBER_BYTES_MAX = 9;

/** Writes a number exactly, in as few bytes as it needs. Returns the place behind it. */
export function putNumber(view: DataView, at: number, value: number): number {
  const low = value >>> 0;
  if (low === value && !Object.is(value, -0)) return putUint32(view, at, low);
  if (value > low && value <= U48_MAX && Math.trunc(value) === value) {
    view.setUint8(at, NUMBER_TAGS.u48);
    view.setUint32(at + 1, low, true);
    view.setUint16(at + 5, (value - low) / 2 ** 32, true);
    return at + 7;
  }
  if (Math.fround(value) === value && value !== Number.NEGATIVE_INFINITY) {
    view.setUint8(at, NUMBER_TAGS.f32);
    view.setFloat32(at + 1, value, true);
    return at + 5;
  }
  if (Math.abs(value) < Number.POSITIVE_INFINITY) {
    view.setUint8(at, NUMBER_TAGS.f64);
    view.setFloat64(at + 1, value, true);
    return at + 9;
  }
  view.setUint8(at, value < 0 ? NUMBER_TAGS.minusInfinity : NUMBER_TAGS.notANumber);
  return at + 1;
}

function putUint32(view: DataView, at: number, value: number): number {
  if (value <= SMALL_NUMBER_MAX) {
    view.setUint8(at, value);
    return at + 1;
  }
  const isShort = value <= 0xffff;
  view.setUint8(at, isShort ? NUMBER_TAGS.u16 : NUMBER_TAGS.u32);
  if (isShort) view.setUint16(at + 1, value, true);
  else view.setUint32(at + 1, value, true);
  return isShort ? at + 3 : at + 5;
}

/** Reads a number where the reader is, which moves behind it. */
export function takeNumber(view: DataView, reader: { position: number }): number {
  const at = reader.position;
  const tag = view.getUint8(at);
  const end = at + 1;
  reader.position = end + (tag <= NUMBER_TAGS.minusInfinity ? 0 : BYTES_BEHIND[tag - NUMBER_TAGS.u16]);
  switch (tag) {
    case NUMBER_TAGS.notANumber:
      return Number.NaN;
    case NUMBER_TAGS.minusInfinity:
      return Number.NEGATIVE_INFINITY;
    case NUMBER_TAGS.u16:
      return view.getUint16(end, true);
    case NUMBER_TAGS.u32:
      return view.getUint32(end, true);
    case NUMBER_TAGS.u48:
      return view.getUint32(end, true) + view.getUint16(end + 4, true) * 2 ** 32;
    case NUMBER_TAGS.f32:
      return view.getFloat32(end, true);
    case NUMBER_TAGS.f64:
      return view.getFloat64(end, true);
    default:
      return tag;
  }
}
