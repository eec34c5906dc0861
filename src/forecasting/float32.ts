const FLOAT32_MAX = 2 ** 127 * (2 - 2 ** -23);

/** Clamps to the range of float32, so that rounding to float32 gives a finite number. NaN stays NaN. */
export function clampToFloat32(value: number): number {
  return Math.max(-FLOAT32_MAX, Math.min(FLOAT32_MAX, value));
}
