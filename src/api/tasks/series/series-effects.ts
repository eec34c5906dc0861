import { setImmediate as pause } from 'node:timers/promises';
import { fitExogenousEffects } from '../../../forecasting/exogenous/fit-effects.ts';
import type { ExogenousEffects } from '../../../forecasting/in-sample.ts';
import type { SeriesQuestion } from './request-reader.ts';

/**
 * Fits exogenous effects to each series; undefined without variables.
 * @param held values at the end of each series that are excluded from the fit
 */
export async function fitSeriesEffects(
  { series, frequency: { season }, cleanFirst, pastOnly }: SeriesQuestion,
  held: number,
  signal: AbortSignal,
): Promise<ExogenousEffects[] | undefined> {
  const { values, variables } = series;
  if (variables === null) return undefined;
  const effects: ExogenousEffects[] = [];
  for (const [i, history] of values.entries()) {
    signal.throwIfAborted();
    const settings = { cleanFirst, pastOnly, end: history.length - held, season, pause };
    effects.push(await fitExogenousEffects(history, variables[i], settings));
  }
  return effects;
}
