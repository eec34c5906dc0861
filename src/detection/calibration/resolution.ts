import { layout } from './layout.ts';

/**
 * How finely a series is resolved. The deviation of its residuals has a floor of half that: a series that was flat so
 * far has residuals of 0, and a jump away from it must still have a finite score, while a flip of the last digit must
 * not.
 *
 * A fresh state is all 0 with a previous value of NaN.
 */
export const RESOLUTION_STATE = layout({
  previous: 1,
  smallestStep: 1,
  /** Steps seen, STEPS_COUNTED at most. */
  steps: 1,
  decimals: 1,
});
const { previous: PREVIOUS, smallestStep: SMALLEST, steps: STEPS, decimals: DECIMALS } = RESOLUTION_STATE.at;

/**
 * The smallest step counts as the resolution once this many steps were seen; before, the rounding of the values does.
 */
const STEPS_MIN = 8;
/** So many steps show which of them are usual. */
export const STEPS_COUNTED = 64;
/** Digits after the point beyond which values count as not rounded. */
const DECIMALS_MAX = 9;
const POWERS_OF_TEN = Array.from({ length: DECIMALS_MAX }, (_, decimals) => 10 ** decimals);
/** Resolution of a series that has not changed so far, relative to its value; absolute where that is 0. */
const RELATIVE = 1e-9;
/**
 * Values that differ by less, relative to their size, are one value: so much do sums and rates of doubles differ by the
 * order of their terms. 0.1 + 0.2 is 0.3.
 */
const SUM_ROUNDING = 1e-14;
/** Values are kept as float32: the smallest number that those distinguish from 0. */
const FLOOR_MIN = 2 ** -149;

export function startResolution(state: Float64Array, start: number): void {
  state.fill(0, start, start + RESOLUTION_STATE.count);
  state[start + PREVIOUS] = Number.NaN;
}

/** Records the next observed value; a missing one changes nothing. */
export function recordResolution(state: Float64Array, start: number, value: number): void {
  if (Number.isNaN(value)) return;
  const step = Math.abs(value - state[start + PREVIOUS]);
  if (step > 0) {
    state[start + STEPS] = Math.min(STEPS_COUNTED, state[start + STEPS] + 1);
    const smallest = state[start + SMALLEST];
    if (smallest === 0 || step < smallest) state[start + SMALLEST] = step;
  }
  state[start + DECIMALS] = decimalsOf(value, state[start + DECIMALS]);
  state[start + PREVIOUS] = value;
}

/** A value as it counts: the one before, if they differ by rounding alone. Two whole numbers do not. */
export function countedValue(state: Float64Array, start: number, value: number): number {
  const previous = state[start + PREVIOUS];
  if (value === previous || !(Math.abs(value - previous) <= SUM_ROUNDING * Math.abs(value))) return value;
  return Number.isInteger(value) && Number.isInteger(previous) ? value : previous;
}

/** The smallest deviation that residuals of the series may be judged by; above 0. */
export function deviationFloor(state: Float64Array, start: number): number {
  return Math.max(FLOOR_MIN, resolutionOf(state, start));
}

/** Half of the last digit of the values so far and of this one. */
export function digitDeviation(state: Float64Array, start: number, value: number): number {
  return 10 ** -decimalsOf(value, state[start + DECIMALS]) / 2;
}

/** Steps so far, STEPS_COUNTED at most. */
export function stepsSoFar(state: Float64Array, start: number): number {
  return state[start + STEPS];
}

/** True if the series has hardly moved: how finely it is resolved is not known yet. */
export function isFlatSoFar(state: Float64Array, start: number): boolean {
  return state[start + STEPS] < STEPS_MIN;
}

function resolutionOf(state: Float64Array, start: number): number {
  if (state[start + STEPS] === 0) {
    const previous = Math.abs(state[start + PREVIOUS]);
    return previous > 0 ? RELATIVE * previous : RELATIVE;
  }
  if (state[start + STEPS] >= STEPS_MIN) return state[start + SMALLEST] / 2;
  return Math.min(state[start + SMALLEST], 10 ** -state[start + DECIMALS]) / 2;
}

/** Digits after the point that a value has, at least `known` and at most DECIMALS_MAX. */
function decimalsOf(value: number, known: number): number {
  let decimals = known;
  for (; decimals < DECIMALS_MAX; decimals++) {
    const scaled = value * POWERS_OF_TEN[decimals];
    if (Math.abs(scaled - Math.round(scaled)) <= 1e-9 * Math.abs(scaled)) break;
  }
  return decimals;
}
