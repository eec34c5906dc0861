import { parseFrequency } from '../detector/frequency.ts';

/** Unknown frequencies get this one. */
const GENERIC_SEASON = 24;
/** Yearly data has a season of one step; a forecast covers some more. */
const HORIZON_MIN = 4;
/**
 * A history is forecast from within in shorter pieces than a long season: what is near is known better, and as many steps as the model decodes at
 * once cost least. `npm run bench -- in-sample`: with 16 instead of 24 forecasts of 5-minute data are 8 % nearer, and fewer flags are false.
 */
const IN_SAMPLE_HORIZON_MAX = 16;

/** Steps that one forecast of such a series is meant to cover: a season. */
export function seasonalHorizon(freq: string): number {
  return Math.max(HORIZON_MIN, parseFrequency(freq)?.season ?? GENERIC_SEASON);
}

/**
 * Values that a forecast looks at where series tend to be short, by their season. Old clients ask for intervals only of series that are at least
 * this and a horizon long, and all clients cut what they send to it; so a forecast must not look at more, or the cut would change it.
 */
const SHORT_HISTORIES: Readonly<Record<number, number>> = { 1: 24, 4: 40, 5: 100, 7: 140, 12: 108, 24: 336, 52: 104 };

/** Values before a cutoff that forecasts and cross-validation look at; at most what the model can. */
export function forecastContext(freq: string, contextMax: number): number {
  return Math.min(contextMax, SHORT_HISTORIES[parseFrequency(freq)?.season ?? 0] ?? contextMax);
}

/**
 * Values that a forecast from within looks at where fewer do as well as all that the model can, by the season: some four months of days, five
 * years of weeks. `npm run bench -- in-sample`: the same hits and false alarms as with 512 for a quarter of the time. Longer steps would cost
 * less, too, but 14 days instead of 7 miss 16 of 217 incidents more, and 28 days 53.
 */
const IN_SAMPLE_CONTEXTS: Readonly<Record<number, number>> = { 5: 112, 7: 112, 52: 256 };

/** Values before a value (after it, at the beginning) that it is forecast from within a history; at most what the model can. */
export function inSampleContext(freq: string, contextMax: number): number {
  return Math.min(contextMax, IN_SAMPLE_CONTEXTS[seasonalHorizon(freq)] ?? contextMax);
}

/** Steps that one forecast covers where a history is forecast from within. */
export function inSampleHorizon(freq: string): number {
  return Math.min(seasonalHorizon(freq), IN_SAMPLE_HORIZON_MAX);
}
