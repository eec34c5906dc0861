import { layout } from './layout.ts';

/** Largest magnitude of a value. The distance of two values is finite in the single precision of the models. */
export const VALUE_MAGNITUDE_MAX = 1.7014117e38;

/**
 * Whether the float32 distances of one window still distinguish its values. A series whose first value was 2^31 and
 * whose others are near 20 would keep multiples of 128.
 */
export const PRECISION_STATE = layout({
  lowest: 1,
  highest: 1,
  /** The largest rounding error. */
  error: 1,
});
const { lowest: LOW, highest: HIGH, error: ERROR } = PRECISION_STATE.at;

/** Rounding errors above this share of a window's range hide its shape. */
const ERROR_SHARE_MAX = 2 ** -10;
/** The smallest normal float32: values that differ by less are equal from any origin. */
const RANGE_MIN = 2 ** -126;

/**
 * A number of a state in single precision where that holds it: the changelog has it in 4 bytes then. Squares of very
 * large or small values stay as they are.
 */
export function inSinglePrecision(number: number): number {
  const single = Math.fround(number);
  const magnitude = Math.abs(single);
  return magnitude >= RANGE_MIN && magnitude < Number.POSITIVE_INFINITY ? single : number;
}

export function startPrecision(state: Float64Array, start: number): void {
  state[start + LOW] = Number.POSITIVE_INFINITY;
  state[start + HIGH] = Number.NEGATIVE_INFINITY;
  state[start + ERROR] = 0;
}

/** Records the next value (NaN: missing) and the distance that is kept of it. */
export function recordPrecision(
  state: Float64Array,
  start: number,
  { value, origin, distance }: { readonly value: number; readonly origin: number; readonly distance: number },
): void {
  if (Number.isNaN(value)) return;
  state[start + LOW] = Math.min(state[start + LOW], value);
  state[start + HIGH] = Math.max(state[start + HIGH], value);
  state[start + ERROR] = Math.max(state[start + ERROR], Math.abs(value - origin - distance));
}

/** True if the window that ends now was rounded away; the series needs another origin then. */
export function precisionLost(state: Float64Array, start: number): boolean {
  const range = state[start + HIGH] - state[start + LOW];
  return range >= RANGE_MIN && state[start + ERROR] > ERROR_SHARE_MAX * range;
}
