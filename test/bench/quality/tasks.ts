/** The series that forecasts are measured on. None of them is in the project, and no model was trained on them. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { median } from '../detection/event-segments.ts';
import { readNabInputs } from '../detection/nab-data.ts';

/** Forecasts to make, and the values to compare them with. */
export interface QualityTask {
  readonly name: 'm4_hourly' | 'm4_weekly' | 'nab';
  readonly h: number;
  readonly series: readonly QualitySeries[];
  readonly points: readonly QualityPoint[];
}

export interface QualitySeries {
  readonly name: string;
  readonly freq: string;
  /** Season of the seasonal naive forecast, in steps. */
  readonly season: number;
  readonly values: Float64Array;
  /** Positions outside of every labelled anomaly. */
  readonly normal: readonly boolean[];
}

export interface QualityPoint {
  /** Index of the series. */
  readonly series: number;
  readonly cutoff: number;
}

const M4 = {
  m4_hourly: { file: 'Hourly', freq: 'h', season: 24, h: 48 },
  m4_weekly: { file: 'Weekly', freq: 'W', season: 1, h: 13 },
} as const;
const NAB_HORIZON = 24;
const NAB_CUTOFFS = 300;
/** Values before the first cutoff of a file; at least a day, at most half of the file. */
const NAB_HISTORY = 512;
const DAY_MS = 86_400_000;

/** Whether a folder has the collections, as `m4/` and `nab/`. */
export function hasCollections(folder: string): boolean {
  return existsSync(join(folder, 'm4')) && existsSync(join(folder, 'nab'));
}

/** A task of M4 as in its competition: the last `h` values of each series. */
export async function readM4(folder: string, name: keyof typeof M4): Promise<QualityTask> {
  const { file, freq, season, h } = M4[name];
  const [train, test] = await Promise.all(
    ['train', 'test'].map((part) => readRows(join(folder, 'm4', `${file}-${part}.csv`))),
  );
  const series = train.map(([id, ...history], i): QualitySeries => {
    const values = Float64Array.from(
      [...history, ...test[i].slice(1, 1 + h)].filter((text) => text !== ''),
      Number,
    );
    return { name: id, freq, season, values, normal: Array.from(values, () => true) };
  });
  return { name, h, series, points: series.map(({ values }, i) => ({ series: i, cutoff: values.length - h })) };
}

/** Every file of NAB that is not constant, at evenly spaced cutoffs. */
export function readNab(folder: string): QualityTask {
  const series: QualitySeries[] = [];
  const points: QualityPoint[] = [];
  for (const { name, times, channels, windows } of readNabInputs(join(folder, 'nab'))) {
    const [values] = channels;
    if (values.every((value) => value === values[0])) continue;
    const stepMs = median(Array.from(times.subarray(1), (time, i) => time - times[i]));
    const season = Math.max(1, Math.round(DAY_MS / stepMs));
    const normal = Array.from(times, (_, row) => windows.every(({ start, end }) => row < start || row >= end));
    const first = Math.min(Math.max(NAB_HISTORY, season), Math.floor(values.length / 2));
    for (const cutoff of evenlySpaced(first, values.length - NAB_HORIZON, NAB_CUTOFFS)) {
      points.push({ series: series.length, cutoff });
    }
    series.push({ name, freq: `${Math.round(stepMs / 60_000)}min`, season, values, normal });
  }
  return { name: 'nab', h: NAB_HORIZON, series, points };
}

/** Rows below the first one, without quotes. */
async function readRows(path: string): Promise<string[][]> {
  const lines = (await readFile(path, 'utf8')).trim().split(/\r?\n/).slice(1);
  return lines.map((line) => line.replaceAll('"', '').split(','));
}

function evenlySpaced(first: number, last: number, count: number): number[] {
  const all = Array.from({ length: count }, (_, i) => Math.floor(first + ((last - first) * i) / (count - 1)));
  return [...new Set(all)];
}
