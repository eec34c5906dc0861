/**
 * Step and context of in-sample detection: error of the forecasts, incidents that are flagged, other flags,
 * and cost. The first pair of a frequency is the reference of the others.
 */

import { deviationAt } from '../../src/detector/calibration/calibration.ts';
import { calibrateInSample, flagInSample } from '../../src/detector/calibration/in-sample-detection.ts';
import { rollOut } from '../../src/forecast/autoregressive-roll-out.ts';
import { forecastInSample } from '../../src/forecast/in-sample.ts';
import { openCatalog } from '../../src/model/catalog.ts';
import { Forecasters, type ModelForecaster } from '../../src/model/onnx-forecaster.ts';
import type { Figures } from './bench.ts';
import { type LabelledSeries, nabSeries, syntheticSeries } from './labelled-series.ts';
import { type Cell, printTable, rounded } from './table.ts';

const LEVEL = 99;
/** A flag within this many steps after a window counts as a hit. */
const GRACE = 2;

interface Variant {
  readonly h: number;
  readonly context: number;
}

/** Pairs to compare, as `h:context`. The second one is in use (`src/sidecar/models/frequency-profile.ts`). */
const VARIANTS: Readonly<Record<string, readonly string[]>> = {
  D: ['7:512', '7:112', '7:64', '14:112', '28:112'],
  B: ['5:512', '5:112', '5:64', '10:112'],
  h: ['24:512', '16:512', '16:336', '24:256', '48:512'],
  '5min': ['24:512', '16:512', '16:256', '32:512', '48:512'],
};

/** The result of one series with one variant. */
interface SeriesResult {
  readonly error: number;
  readonly deviation: number;
  readonly hits: number;
  readonly falseAlarms: number;
}

/** @param args a frequency and its pairs, by default VARIANTS */
export async function run(args: readonly string[]): Promise<Figures> {
  const [freq, ...pairs] = args;
  const variants = freq === undefined ? VARIANTS : { [freq]: pairs.length === 0 ? VARIANTS[freq] : pairs };
  const model = (await openCatalog({ modelsDir: null })).get('tsmodel-1');
  const forecasters = await Forecasters.start([model], { threads: 2 });
  const nab = nabSeries();
  const figures: Figures[] = [];
  try {
    for (const [freq, pairs] of Object.entries(variants)) {
      const sets: readonly [string, LabelledSeries[]][] = [
        ['synthetic', freq === '5min' ? [] : syntheticSeries(freq)],
        ['nab', nab.filter((series) => series.freq === freq)],
      ];
      for (const [set, series] of sets) {
        if (series.length === 0) continue;
        figures.push(...(await compare(`${set} ${freq}`, series, pairs.map(variantOf), forecasters, model.name)));
      }
    }
  } finally {
    await forecasters.close();
  }
  return { figures };
}

function variantOf(pair: string): Variant {
  const [h, context] = pair.split(':').map(Number);
  return { h, context };
}

async function compare(
  set: string,
  series: readonly LabelledSeries[],
  variants: readonly Variant[],
  forecasters: Forecasters,
  model: string,
): Promise<Figures[]> {
  const values = series.reduce((sum, { values }) => sum + values.length, 0);
  const windows = series.reduce((sum, { windows }) => sum + windows.length, 0);
  let reference: readonly SeriesResult[] | null = null;
  const rows: Cell[][] = [];
  const figures: Figures[] = [];
  for (const variant of variants) {
    const before = forecasters.stats();
    const results = await evaluate(series, variant, forecasters.forecasterFor(model, 1));
    const after = forecasters.stats();
    reference ??= results;
    const ratio = (of: (result: SeriesResult) => number) => geometricMean(results.map(of), reference!.map(of));
    const sum = (of: (result: SeriesResult) => number) => results.reduce((total, each) => total + of(each), 0);
    const figure = {
      ...variant,
      forecasts: after.forecasts - before.forecasts,
      core_ms_per_1000: rounded(((after.cpuMs - before.cpuMs) / values) * 1_000),
      error_ratio: rounded(ratio(({ error }) => error)),
      deviation_ratio: rounded(ratio(({ deviation }) => deviation)),
      hits: sum(({ hits }) => hits),
      false_alarms_per_1000: rounded((sum(({ falseAlarms }) => falseAlarms) / values) * 1_000),
    };
    figures.push({ set, windows, ...figure });
    rows.push(Object.values(figure));
  }
  const columns = [
    'h',
    'context',
    'forecasts',
    'core ms/1000',
    'error',
    'deviation',
    `hits of ${windows}`,
    'false/1000',
  ];
  printTable(`${set}: ${series.length} series, level ${LEVEL}`, columns, rows);
  return figures;
}

async function evaluate(series: readonly LabelledSeries[], variant: Variant, forecaster: ModelForecaster) {
  const forecasts = await forecastInSample(
    series.map(({ values }) => values),
    variant,
    { forecaster: rollOut(forecaster) },
  );
  return forecasts.map((forecast, i): SeriesResult => {
    const { windows } = series[i];
    const calibration = calibrateInSample(forecast);
    const flags = flagInSample(forecast, calibration, LEVEL);
    const near = (position: number) => windows.some(({ start, end }) => start <= position && position < end + GRACE);
    const normal = [...forecast.residual].filter((residual, position) => !Number.isNaN(residual) && !near(position));
    return {
      error: normal.reduce((sum, residual) => sum + Math.abs(residual), 0) / normal.length,
      deviation: deviationAt(calibration, 0, 0),
      hits: windows.filter(({ start, end }) => flags.slice(start, end + GRACE).includes(true)).length,
      falseAlarms: flags.filter((flag, position) => flag && !near(position)).length,
    };
  });
}

/** Geometric mean of the ratios, without those of constant series (0 / 0). */
function geometricMean(ours: readonly number[], theirs: readonly number[]): number {
  const logs = ours.map((value, i) => Math.log(value / theirs[i])).filter(Number.isFinite);
  return Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length);
}
