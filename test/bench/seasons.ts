/**
 * Error and cost of multi-resolution forecasts of finely sampled series: synthetic ones, and NAB where it is available.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { inferFrequency } from '../../src/calendar/infer-frequency.ts';
import { type RolledOutForecaster, rollOut } from '../../src/forecast/autoregressive-roll-out.ts';
import {
  forecastMultiResolution,
  forecastsPerPoint,
  type MultiResolutionSettings,
} from '../../src/forecast/multi-resolution.ts';
import { openCatalog } from '../../src/model/catalog.ts';
import { Forecasters } from '../../src/model/onnx-forecaster.ts';
import { aggregationOf, frequencyProfile } from '../../src/sidecar/models/frequency-profile.ts';
import type { Figures } from './bench.ts';
import { type Cell, printTable, rounded } from './table.ts';

interface Series {
  readonly family: string;
  readonly freq: string;
  readonly values: Float64Array;
}

const HORIZONS = [24, 96, 288];
const CUTOFFS = 20;
const WEEKS = 5;
const DAY = 288;
/** Least error, as a share of the series' deviation: some series repeat exactly. */
const ERROR_MIN = 0.01;
/** Bounds of the 80 % interval. */
const PROBABILITIES = [0.1, 0.9];

/** @param args folder of NAB, by default `../shared/data/nab`; name of the model, by default `tsmodel-1` */
export async function run(args: readonly string[]): Promise<Figures> {
  const nab = args[0] ?? '../shared/data/nab';
  if (!existsSync(nab)) console.log(`no NAB at ${nab}: synthetic series alone`);
  const series = [...synthetic(), ...(existsSync(nab) ? readNab(nab) : [])];
  const model = (await openCatalog({ modelsDir: null })).get(args[1] ?? 'tsmodel-1');
  const forecasters = await Forecasters.start([model], { threads: 2 });
  const forecaster = rollOut(forecasters.forecasterFor(model.name, 1));
  const rows: Cell[][] = [];
  try {
    for (const h of HORIZONS) {
      const families = Map.groupBy(
        await Promise.all(series.map((each) => compare(each, h, forecaster))),
        (c) => c?.family,
      );
      for (const [family, all] of families) {
        const found = all.filter((comparison) => comparison !== null);
        if (family === undefined || found.length === 0) continue;
        const ratios = found.map(({ ratio }) => ratio);
        const mean = (pick: (c: Comparison) => number) => found.reduce((sum, c) => sum + pick(c), 0) / found.length;
        const geometric = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
        const coverages = [mean((c) => c.coverageBefore), mean((c) => c.coverageAfter)];
        rows.push([family, h, found.length, geometric, Math.min(...ratios), Math.max(...ratios), ...coverages]);
      }
    }
  } finally {
    await forecasters.close();
  }
  const columns = ['series', 'h', 'count', 'error ratio', 'least', 'greatest', '80 % before', '80 % after'];
  printTable(
    'mean absolute error of multi-resolution forecasts, relative to single-resolution ones (geometric mean over series)',
    columns,
    rows,
  );
  const aggregation = aggregationOf(frequencyProfile('5min'), model.manifest.context);
  return {
    forecasts_per_point: forecastsPerPoint({ h: HORIZONS[0], context: model.manifest.context, aggregation }, false),
    error_ratios: rows.map(([family, h, , ratio]) => ({ family, h, ratio: rounded(ratio as number) })),
  };
}

interface Comparison {
  readonly family: string;
  readonly ratio: number;
  readonly coverageBefore: number;
  readonly coverageAfter: number;
}

/** Null for a series that is too short, or constant. */
async function compare(
  { family, freq, values }: Series,
  h: number,
  forecaster: RolledOutForecaster,
): Promise<Comparison | null> {
  const { context } = forecaster.limits;
  const aggregation = aggregationOf(frequencyProfile(freq), context);
  const deviation = deviationOf(values);
  if (aggregation === null || !(deviation > 0)) return null;
  const first = Math.min(9 * aggregation.day, values.length >> 1);
  if (values.length - h <= first + CUTOFFS) return null;
  const points = Array.from({ length: CUTOFFS }, (_, i) => {
    return { values, cutoff: first + Math.floor(((values.length - h - first) * i) / (CUTOFFS - 1)) };
  });
  const evaluate = async (settings: MultiResolutionSettings) => {
    const forecasts = await forecastMultiResolution(points, settings, { forecaster });
    const totals = { error: 0, inside: 0, count: 0 };
    forecasts.forEach(({ mean, quantiles: [lo, hi] }, i) => {
      for (let k = 0; k < h; k++) {
        const actual = values[points[i].cutoff + k];
        if (Number.isNaN(actual) || Number.isNaN(mean[k])) continue;
        totals.count++;
        totals.error += Math.abs(actual - mean[k]);
        if (actual >= lo[k] && actual <= hi[k]) totals.inside++;
      }
    });
    const error = Math.max(totals.error / totals.count, ERROR_MIN * deviation);
    return { error, coverage: totals.inside / totals.count };
  };
  const settings = { h, context, probabilities: PROBABILITIES };
  const before = await evaluate({ ...settings, aggregation: null });
  const after = await evaluate({ ...settings, aggregation });
  if (Number.isNaN(before.error)) return null;
  return { family, ratio: after.error / before.error, coverageBefore: before.coverage, coverageAfter: after.coverage };
}

function deviationOf(values: Float64Array): number {
  const observed = values.filter((value) => !Number.isNaN(value));
  const mean = observed.reduce((sum, value) => sum + value, 0) / observed.length;
  return Math.sqrt(observed.reduce((sum, value) => sum + (value - mean) ** 2, 0) / observed.length);
}

/**
 * Five weeks of 5-minute data: with weekends, with a level for each day of the week, with a daily season alone, and
 * without season.
 */
function synthetic(): Series[] {
  const families: Readonly<Record<string, (weekday: number, seed: number, wave: number) => number>> = {
    weekends: (weekday, seed, wave) => (2 + wave) * (weekday >= 5 ? 0.15 + 0.05 * seed : 1),
    weekdays: (weekday, seed, wave) => (2 + wave) * (1 + 0.35 * Math.sin(7.3 * (weekday + 1) * (seed + 1))),
    days: (_weekday, _seed, wave) => 2 + wave,
    'no season': () => 2,
  };
  return Object.entries(families).flatMap(([family, level]) =>
    Array.from({ length: 6 }, (_, seed): Series => {
      const random = randomNumbers(seed + 1);
      let drift = 0;
      const values = Float64Array.from({ length: WEEKS * 7 * DAY }, (_, t) => {
        const phase = (2 * Math.PI * (t % DAY)) / DAY + seed;
        const wave = Math.sin(phase) + 0.4 * Math.sin(2 * phase + seed);
        drift = [0, 0.9, 0.98][seed % 3] * drift + (random() + random() + random() - 1.5);
        return 100 * level((Math.floor(t / DAY) + seed) % 7, seed, wave) + [8, 20][seed % 2] * drift;
      });
      return { family, freq: '5min', values };
    }),
  );
}

function randomNumbers(seed: number): () => number {
  let state = seed * 7919;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Every file of NAB on its grid; missing steps are NaN. */
function readNab(folder: string): Series[] {
  return globSync(join(folder, 'data/*/*.csv'))
    .sort()
    .flatMap((path): Series[] => {
      const lines = readFileSync(path, 'utf8').trim().split('\n').slice(1);
      const times = lines.map((line) => Date.parse(`${line.slice(0, 19).replace(' ', 'T')}Z`));
      const freq = inferFrequency([times]);
      if (freq?.kind !== 'fixed') return [];
      const places = times.map((time) => Math.round((time - times[0]) / freq.stepMs));
      if (places.at(-1)! > 3 * lines.length) return [];
      const values = new Float64Array(places.at(-1)! + 1).fill(Number.NaN);
      lines.forEach((line, i) => {
        values[places[i]] = Number(line.slice(line.indexOf(',') + 1));
      });
      return [{ family: basename(path).startsWith('art_') ? 'NAB artificial' : 'NAB', freq: freq.alias, values }];
    });
}
