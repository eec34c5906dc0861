import { createHash, randomBytes } from 'node:crypto';
import { setImmediate as pause } from 'node:timers/promises';
import type { Static } from 'typebox';
import type { HorizonForecast } from '../../../forecasting/calibrated-forecasts.ts';
import {
  markGaps,
  windowsWithoutGaps,
  withoutTrendAndSeason,
} from '../../../forecasting/simulation/history-windows.ts';
import { equiprobableValues } from '../../../forecasting/simulation/marginal-quantiles.ts';
import { randomNumbers } from '../../../forecasting/simulation/random-numbers.ts';
import { dealWindows, pathOrder } from '../../../forecasting/simulation/schaake-shuffle.ts';
import type { SimulateAnswer } from '../../wire/schema/tasks/simulate-schema.ts';
import { forecastPoints } from '../forecast/forecast-run.ts';
import { pathHistory, type SimulateQuestion } from './simulate-question.ts';

/** Series that are forecast at a time. Each has hundreds of quantiles. */
const SERIES_AT_ONCE = 256;
/** Fewer paths are drawn from so many: the ranks of a few would not show how steps hang together. */
const PATHS_DRAWN_MIN = 32;
/** Values between two pauses: some milliseconds. */
const PAUSE_AFTER = 10_000;

/**
 * Simulates paths whose steps have the forecast's distributions, in the order of windows of the history. `samples` has
 * path after path, in each series after series, in each step after step.
 */
export async function runSimulate(question: SimulateQuestion, signal: AbortSignal) {
  const { series, frequency, settings, paths, tokens } = question;
  const histories = series.values.map((values) => pathHistory(values, settings.h));
  const { h } = settings;
  const turn = turnsOf(signal);
  const shared = question.coupled ? await windowsOf(histories, h, turn) : null;
  const coupled = shared !== null && shared.length > 0;
  const drawn = Math.max(paths, PATHS_DRAWN_MIN);
  const valuesOf = equiprobableValues(settings.probabilities, drawn);
  const chance = chanceOf(question);
  const samples = new Float64Array(paths * histories.length * h);
  let together: Uint32Array | null = null;
  for await (const { index, forecast } of marginals(question, signal)) {
    const history = histories[index];
    const random = chance(history);
    // By the first series, which so has the same paths without the others.
    if (coupled) together ??= dealWindows(shared, drawn, random);
    const windows = together ?? dealWindows(await windowsOf([history], h, turn), drawn, random);
    const compared = withoutTrendAndSeason(history, frequency.season);
    for (let step = 0; step < h; step++) {
      await turn(drawn);
      const values = valuesOf((quantile) => forecast.quantiles[quantile][step]);
      const order = pathOrder(compared, windows, step, random);
      for (let rank = 0; rank < drawn; rank++) {
        const path = order[rank];
        if (path < paths) samples[(path * histories.length + index) * h + step] = values[rank];
      }
    }
  }
  const sizes = series.sizes.map(() => h);
  return { ...tokens, samples, n_paths: paths, h, sizes, coupled } satisfies Static<typeof SimulateAnswer>;
}

/** Gives other requests a turn after every few thousand values. */
type Turn = (values: number) => Promise<void>;

/** Rejects when the signal aborts. */
function turnsOf(signal: AbortSignal): Turn {
  let since = 0;
  return async (values) => {
    since += values;
    if (since < PAUSE_AFTER) return;
    since = 0;
    await pause();
    signal.throwIfAborted();
  };
}

/** The windows in which no history has a gap, as far back as the shortest. */
async function windowsOf(histories: readonly Float64Array[], h: number, turn: Turn): Promise<Uint32Array> {
  const gaps = new Uint8Array(
    histories.reduce((least, { length }) => Math.min(least, length), Number.POSITIVE_INFINITY),
  );
  for (const history of histories) {
    await turn(gaps.length);
    markGaps(gaps, history);
  }
  return windowsWithoutGaps(gaps, h);
}

/** The forecasts of all series in their order. A group is forecast at once. */
async function* marginals(
  question: SimulateQuestion,
  signal: AbortSignal,
): AsyncGenerator<{ readonly index: number; readonly forecast: HorizonForecast }> {
  const { series, model, settings, offsets } = question;
  const points = series.sizes.map((cutoff, i) => ({ series: i, cutoff }));
  const variables = series.variables === null ? [] : series.future(settings.h);
  const future = () => ({ variables, startOf: () => 0 });
  const atOnce = offsets === undefined ? SERIES_AT_ONCE : points.length;
  for (let start = 0; start < points.length; start += atOnce) {
    const some = points.slice(start, start + atOnce);
    const plan = { points: some, future, models: some.map(() => model), signal };
    const { forecasts } = await forecastPoints(question, plan);
    for (const [i, forecast] of forecasts.entries()) yield { index: start + i, forecast };
  }
}

/**
 * The random numbers of each series, from the seed and its values: not from its place, so that other series of the
 * request change nothing. A series that is sent twice has other paths the second time.
 */
function chanceOf({ seed }: Pick<SimulateQuestion, 'seed'>): (values: Float64Array) => () => number {
  const root = seed === null ? randomBytes(16).toString('hex') : String(seed);
  const timesOf = new Map<string, number>();
  return (values) => {
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    const digest = createHash('sha256').update(bytes).digest('hex');
    const times = timesOf.get(digest) ?? 0;
    timesOf.set(digest, times + 1);
    return randomNumbers(createHash('sha256').update(`${root} ${digest} ${times}`).digest());
  };
}
