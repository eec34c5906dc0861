/**
 * bfloat16: the upper half of a float32, rounded to nearest even. It has the range of a float32 and 8 bits of
 * precision, so that no scale has to be known. Kept as its bits.
 */
const FLOAT = new Float32Array(1);
const BITS = new Uint32Array(FLOAT.buffer);

export const BFLOAT_NAN = 0x7fc0;
export const BFLOAT_INFINITE = 0x7f80;
/** Largest error of the rounding, relative. */
export const BFLOAT_ROUNDING = 2 ** -8;

/** Finite numbers stay finite. */
export function bfloatBits(number: number): number {
  if (Number.isNaN(number)) return BFLOAT_NAN;
  FLOAT[0] = number;
  const [bits] = BITS;
  const rounded = (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
  const isRoundedAway = (rounded & 0x7fff) === BFLOAT_INFINITE && (bits & 0x7fff_ffff) !== 0x7f80_0000;
  return isRoundedAway ? rounded - 1 : rounded;
}

export function ofBfloatBits(bits: number): number {
  BITS[0] = bits << 16;
  return FLOAT[0];
}

export function roundToBfloat16(number: number): number {
  return ofBfloatBits(bfloatBits(number));
}
