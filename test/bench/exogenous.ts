/**
 * Effect of exogenous variables on forecasts and detections: synthetic series with variables of known effect. An error
 * of 1 is that of the model without variables; `at best` is that of the model with the true effect subtracted.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { calibrateInSample, flagInSample } from '../../src/detector/calibration/in-sample-detection.ts';
import { type RolledOutForecaster, rollOut } from '../../src/forecast/autoregressive-roll-out.ts';
import { forecastCalibrated } from '../../src/forecast/calibrated-forecasts.ts';
import { forecastWithExogenous } from '../../src/forecast/exogenous/exogenous-forecast.ts';
import { fitExogenousEffects } from '../../src/forecast/exogenous/fit-effects.ts';
import { forecastInSample } from '../../src/forecast/in-sample.ts';
import { openCatalog } from '../../src/model/catalog.ts';
import { Forecasters } from '../../src/model/onnx-forecaster.ts';
import { frequencyProfile, inSampleHorizon } from '../../src/sidecar/models/frequency-profile.ts';
import { detectOnline } from '../../src/sidecar/tasks/online-detection/online-detection-run.ts';
import type { Figures } from './bench.ts';
import {
  EXOGENOUS_KINDS,
  type ExogenousSeries,
  exogenousSeries,
  SPIKE_VARIABLES,
  type SpikedSeries,
  spiked,
} from './exogenous-series.ts';
import { type Cell, printTable, rounded } from './table.ts';

const DAY = 24;
const H = 24;
const WINDOWS = 4;
const CONTEXT = 336;
const LEVEL = 99;
const LENGTH = 600;
const DETECTED = 96;

/** @param args series of each kind, by default 30; the seed of the first, by default 1 */
export async function run(args: readonly string[]): Promise<Figures> {
  const [count, seed] = [Number(args[0] ?? 30), Number(args[1] ?? 1)];
  const model = (await openCatalog({ modelsDir: null })).get('tsmodel-1');
  const forecasters = await Forecasters.start([model], { threads: 2 });
  const forecaster = rollOut(forecasters.forecasterFor(model.name, 1));
  const seeds = Array.from({ length: count }, (_, i) => seed + i);
  try {
    return { forecasts: await forecasts(seeds, forecaster), detections: await detections(seeds, forecaster) };
  } finally {
    await forecasters.close();
  }
}

async function forecasts(seeds: readonly number[], forecaster: RolledOutForecaster): Promise<Figures[]> {
  const figures: Figures[] = [];
  for (const kind of Object.keys(EXOGENOUS_KINDS)) {
    const all = seeds.map((seed) => exogenousSeries(kind, seed, LENGTH));
    const without = await errorsWithout(all, () => null, forecaster);
    const best = await errorsWithout(all, ({ effect }) => effect, forecaster);
    const before = await errorsWith(all, true, forecaster);
    const after = await errorsWith(all, false, forecaster);
    figures.push({
      kind,
      at_best: rounded(meanRatio(best, without)),
      before_model: rounded(meanRatio(before.errors, without)),
      after_model: rounded(meanRatio(after.errors, without)),
      believed_before: rounded(before.withEffect),
      believed_after: rounded(after.withEffect),
    });
  }
  const columns = ['kind', 'at best', 'before model', 'after model', 'effect before', 'effect after'];
  const rows = figures.map((figure) => Object.values(figure) as Cell[]);
  printTable(
    `mean absolute error of ${H} steps relative to no variables (geometric mean of ${seeds.length} series of ${WINDOWS} windows), and share of forecasts with an effect`,
    columns,
    rows,
  );
  return figures;
}

/** Mean absolute error of each series over all windows. */
async function errorsWithout(
  all: readonly ExogenousSeries[],
  effectOf: (series: ExogenousSeries) => Float64Array | null,
  forecaster: RolledOutForecaster,
): Promise<number[]> {
  const points = all.flatMap((series) => {
    const effect = effectOf(series);
    const values = effect === null ? series.values : series.values.map((value, t) => value - effect[t]);
    return cutoffs().map((cutoff) => ({ values, cutoff }));
  });
  const made = await forecastCalibrated(points, { h: H, context: CONTEXT, probabilities: [] }, { forecaster });
  return errorsOf(
    points,
    made.map(({ mean }) => mean),
  );
}

async function errorsWith(all: readonly ExogenousSeries[], cleanFirst: boolean, forecaster: RolledOutForecaster) {
  const points = all.flatMap(({ values, variables }) =>
    cutoffs().map((cutoff) => ({ values, cutoff, past: variables, future: variables, futureStart: cutoff })),
  );
  const settings = {
    h: H,
    context: CONTEXT,
    probabilities: [],
    aggregation: null,
    cleanFirst,
    inSampleHorizon: inSampleHorizon(frequencyProfile('h')),
    season: DAY,
    pause: nextTurn,
  };
  const made = await forecastWithExogenous(points, settings, { forecaster });
  const withEffect = made.filter(({ weights }) => weights.some((weight) => weight > 0)).length / made.length;
  return {
    withEffect,
    errors: errorsOf(
      points,
      made.map(({ mean }) => mean),
    ),
  };
}

function cutoffs(): number[] {
  return Array.from({ length: WINDOWS }, (_, i) => LENGTH - (WINDOWS - i) * H);
}

function errorsOf(
  points: readonly { readonly values: Float64Array; readonly cutoff: number }[],
  means: readonly Float64Array[],
): number[] {
  const errors: number[] = [];
  points.forEach(({ values, cutoff }, i) => {
    const error = means[i].reduce((sum, value, k) => sum + Math.abs(values[cutoff + k] - value), 0);
    const series = Math.floor(i / WINDOWS);
    errors[series] = (errors[series] ?? 0) + error / (WINDOWS * H);
  });
  return errors;
}

function meanRatio(ours: readonly number[], theirs: readonly number[]): number {
  return Math.exp(ours.reduce((sum, own, i) => sum + Math.log(own / theirs[i]), 0) / ours.length);
}

type FlagsOf = (series: SpikedSeries) => Promise<readonly boolean[]>;

async function detections(seeds: readonly number[], forecaster: RolledOutForecaster): Promise<Figures[]> {
  const orders = { without: null, 'before model': true, 'after model': false };
  const figures: Figures[] = [];
  for (const variable of SPIKE_VARIABLES) {
    const all = seeds.map((seed) => spiked(variable, { seed, length: LENGTH, start: LENGTH - DETECTED }));
    for (const [detection, flagsOf] of Object.entries({ online, 'in-sample': inSample })) {
      for (const [order, cleanFirst] of Object.entries(orders)) {
        const shares = await flaggedShares(all, (series) => flagsOf(series, cleanFirst, forecaster));
        figures.push({ variable, detection, order, ...shares });
      }
    }
  }
  const columns = ['variable', 'detection', 'order', 'known', 'unknown', 'others'];
  const rows = figures.map((figure) => Object.values(figure) as Cell[]);
  printTable(
    `shares flagged in the last ${DETECTED} values, level ${LEVEL}: spikes known from the variable, unknown spikes, other values`,
    columns,
    rows,
  );
  return figures;
}

/** The last flags of a series are those of its detection window. */
async function flaggedShares(all: readonly SpikedSeries[], flagsOf: FlagsOf) {
  const counts = { known: [0, 0], unknown: [0, 0], others: [0, 0] };
  for (const series of all) {
    const flags = await flagsOf(series);
    for (let k = 1; k <= DETECTED; k++) {
      const kind = series.known.at(-k) ? 'known' : series.unknown.at(-k) ? 'unknown' : 'others';
      counts[kind][0] += Number(flags.at(-k));
      counts[kind][1]++;
    }
  }
  const share = ([flagged, all]: readonly number[]) => rounded(flagged / Math.max(1, all));
  return {
    told_flagged: share(counts.known),
    untold_flagged: share(counts.unknown),
    others_flagged: share(counts.others),
  };
}

async function online(
  { values, variables }: SpikedSeries,
  cleanFirst: boolean | null,
  forecaster: RolledOutForecaster,
) {
  const settings = {
    h: H,
    detectionSize: DETECTED,
    stepSize: H,
    level: LEVEL,
    thresholdMethod: 'univariate',
    calibration: 'plain',
    alarmRate: null,
    calibrationSize: 'all',
    context: CONTEXT,
  } as const;
  const end = values.length - DETECTED;
  const effects =
    cleanFirst === null
      ? undefined
      : [await fitExogenousEffects(values, variables, { cleanFirst, pastOnly: [], end, season: DAY, pause: nextTurn })];
  const [detection] = await detectOnline({ series: [values], settings, forecaster, effects });
  return detection.anomaly;
}

async function inSample(
  { values, variables }: SpikedSeries,
  cleanFirst: boolean | null,
  forecaster: RolledOutForecaster,
) {
  const end = values.length;
  const effects =
    cleanFirst === null
      ? undefined
      : [await fitExogenousEffects(values, variables, { cleanFirst, pastOnly: [], end, season: DAY, pause: nextTurn })];
  const [forecast] = await forecastInSample(
    [values],
    { h: inSampleHorizon(frequencyProfile('h')), context: CONTEXT, effects },
    { forecaster },
  );
  return flagInSample(forecast, calibrateInSample(forecast), LEVEL);
}
