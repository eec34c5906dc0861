const FLOAT32_MAX = 2 ** 127 * (2 - 2 ** -23);

/** The nearest number that float32 can hold; NaN stays NaN. */
export function withinFloat32(value: number): number {
  return Math.max(-FLOAT32_MAX, Math.min(FLOAT32_MAX, value));
}
