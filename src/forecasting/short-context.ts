/** Contexts of fewer than two patches show a network too little: what they show themselves counts. */
export const SHORT_MAX = 31;
/** From so many values on a line shows. */
const LINE_MIN = 4;
/** A mean slope of so many standard errors begins to be a line; one of twice as many is one. */
const ERRORS_MIN = 4;
/** Pairs that show a season. */
const LAG_PAIRS_MIN = 3;
/** Sharpness with which the smaller error wins. */
const SHARPNESS = 4;

interface ShortContext {
  /** Observed values, oldest first, and their positions. */
  readonly values: readonly number[];
  readonly positions: readonly number[];
  /** Position of the first step that is forecast. */
  readonly end: number;
}

/** Forecast from a context alone, and its weight against that of a network. */
interface ShortForecast {
  readonly weight: number;
  at(step: number): number;
}

/**
 * Carries on a short context from its last value, along its mean slope as far as that is no chance. This counts as far
 * as the last value was nearer to the next one, in this context, than the mean before it or a value some steps before.
 * A network regresses to the mean of a few values, which costs a line its slope and a random walk a fifth.
 */
export function shortForecast({ values, positions, end }: ShortContext): ShortForecast | null {
  const n = values.length;
  if (n < 2 || n > SHORT_MAX) return null;
  const last = values[n - 1];
  const slopes = positions.slice(1).map((position, i) => (values[i + 1] - values[i]) / (position - positions[i]));
  if (slopes.every((slope) => slope === 0)) return null;
  const slope = (last - values[0]) / (positions[n - 1] - positions[0]);
  const line = evidence(slopes, slope);
  const lags = Array.from({ length: Math.max(0, n - LAG_PAIRS_MIN - 1) }, (_, i) => errorAtLag(values, i + 2));
  const ratio = errorAtLag(values, 1) / Math.min(errorOfMean(values), ...lags);
  return {
    weight: Math.max(line, 1 / (1 + ratio ** SHARPNESS)),
    at: (step) => last + line * slope * (end - positions[n - 1] + step),
  };
}

/** Evidence that the mean of the slopes is no chance: 0 to 1. */
function evidence(slopes: readonly number[], mean: number): number {
  if (slopes.length < LINE_MIN - 1) return 0;
  const squares = slopes.reduce((sum, slope) => sum + (slope - mean) ** 2, 0);
  const error = Math.sqrt(squares / (slopes.length - 1) / slopes.length);
  return Math.max(0, Math.min(1, Math.abs(mean) / (ERRORS_MIN * error) - 1));
}

function meanSize(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + Math.abs(number), 0) / numbers.length;
}

function errorAtLag(values: readonly number[], lag: number): number {
  return meanSize(values.slice(lag).map((value, i) => value - values[i]));
}

/** Mean error if each value is forecast by the mean of all before. */
function errorOfMean(values: readonly number[]): number {
  let sum = 0;
  const errors = values.slice(1).map((value, i) => {
    sum += values[i];
    return value - sum / (i + 1);
  });
  return meanSize(errors);
}
