const FLOAT32_MAX = 2 ** 127 * (2 - 2 ** -23);

/** The number, or the largest of its sign that float32 holds: rounded to float32 it is finite. NaN stays NaN. */
export function clampToFloat32(value: number): number {
  return Math.max(-FLOAT32_MAX, Math.min(FLOAT32_MAX, value));
}
