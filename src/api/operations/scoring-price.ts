import { OUTPUTS_OF_DETECTION, type TokenCount } from '../accounts/token-count.ts';

/** Observations of one file, and kept values of one what-if. */
export const OBSERVATIONS_MAX = 200_000;

/**
 * Forecasts of one file, and of one of the two scorings of a what-if: one for every step size of observations. A busy
 * machine makes them in the time that a scoring has.
 */
export const SCORING_FORECASTS_MAX = 50_000;

/** The price of a file: its observations are scored once. */
export function backtestTokens(observations: number): TokenCount {
  return { input_tokens: observations, output_tokens: observations * OUTPUTS_OF_DETECTION, finetune_tokens: 0 };
}

/** The price of a what-if: its values are scored by two settings. */
export function whatIfTokens(values: number): TokenCount {
  return { input_tokens: values, output_tokens: 2 * values * OUTPUTS_OF_DETECTION, finetune_tokens: 0 };
}

/** The most observations that a file can have: its lines. Only as many are counted as make a difference. */
export function observationsAtMost(csv: string): number {
  let lines = 0;
  for (const _ of csv.matchAll(/\r\n?|\n/g)) if (++lines > OBSERVATIONS_MAX) break;
  // The first line names the columns; the last one may have no end.
  return Math.min(/[\r\n]$/.test(csv) ? lines - 1 : lines, OBSERVATIONS_MAX);
}
