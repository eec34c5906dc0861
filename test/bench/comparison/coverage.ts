/** The share of rows outside our interval at `level` 99, against the target of 1 in 100. */
import { scoreHistory } from '../../../src/engine/commit/score-history.ts';
import type { ScoreRecord } from '../../../src/records/score-record.ts';
import type { Figures } from '../bench.ts';
import { percentile } from '../detection/event-segments.ts';
import { boundTo, defaultDetector, observationsOf, withModel } from '../detection/product.ts';
import { printTable, rounded } from '../table.ts';
import type { Case, CaseSet } from './cases.ts';

const TARGET = 0.01;
/** The first forecasted rows of a series do not count: so many, and at least this share. */
const CALIBRATION_MIN = 200;
const CALIBRATION_SHARE = 0.25;
const TOGETHER_MAX = 20;

/** A forecasted row, and whether its value was outside our interval. */
interface Row {
  readonly row: number;
  readonly isOutside: boolean;
}

export async function coverageFigures(sets: readonly CaseSet[]): Promise<Figures> {
  const figures: Record<string, Figures> = {};
  for (const { key, title, cases } of sets.filter((set) => set.key === 'nab' || set.key === 'quiet')) {
    const ratios: number[] = [];
    const labelled: Row[] = [];
    (await forecastedRows(cases)).forEach((all, i) => {
      const calibration = Math.max(CALIBRATION_MIN, Math.ceil(CALIBRATION_SHARE * all.length));
      if (all.length < 2 * calibration) return;
      const rows = all.slice(calibration);
      ratios.push(shareOutside(rows.filter(({ row }) => cases[i].labels[row] === 0)) / TARGET);
      labelled.push(...rows.filter(({ row }) => cases[i].labels[row] === 1));
    });
    const numbers = [...[10, 50, 90].map((percent) => percentile(ratios, percent)), shareOutside(labelled)];
    printTable(
      `${title}: rows outside against the target of 1 in 100, by series`,
      ['series', 'p10', 'median', 'p90', 'labelled rows outside'],
      [[ratios.length, ...numbers]],
    );
    figures[key] = { tidewatch: numbers.map(rounded) };
  }
  return figures;
}

const shareOutside = (rows: readonly Row[]) => rows.filter(({ isOutside }) => isOutside).length / rows.length;

function forecastedRows(cases: readonly Case[]): Promise<(readonly Row[])[]> {
  return withModel(async (forecasters, model) => {
    const all: (readonly Row[])[] = [];
    for (let start = 0; start < cases.length; start += TOGETHER_MAX) {
      const together = cases.slice(start, start + TOGETHER_MAX);
      const loaded = together.map((one) => boundTo(defaultDetector(one), forecasters, model));
      all.push(...(await Promise.all(together.map((one, i) => rowsOf(one, loaded[i])))));
    }
    return all;
  });
}

async function rowsOf(one: Case, loaded: ReturnType<typeof boundTo>): Promise<Row[]> {
  const rows: Row[] = [];
  const rowOf = new Map(Array.from(one.times, (ms, row) => [ms, row]));
  const onScores = (scores: readonly ScoreRecord[]) => {
    for (const { value, forecast, lo, hi, timestampMs } of scores) {
      if (forecast === null || Number.isNaN(forecast) || lo === null || hi === null || Number.isNaN(lo)) continue;
      rows.push({ row: rowOf.get(timestampMs)!, isOutside: value < lo || value > hi });
    }
  };
  const observations = observationsOf(one).filter(({ value }) => Number.isFinite(value));
  const plan = { source: one.name, detectors: [loaded], group: null, onScores };
  await scoreHistory(observations, plan, new AbortController().signal);
  return rows;
}
