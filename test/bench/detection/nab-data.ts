/** The files of the Numenta Anomaly Benchmark, next to the project. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Segment } from './event-segments.ts';
import type { SeriesInput } from './labelled-data.ts';
import type { NabProfile } from './nab-score.ts';

export interface NabInput extends SeriesInput {
  readonly windows: readonly Segment[];
}

export const NAB_PROFILES = ['standard', 'reward_low_FP_rate', 'reward_low_FN_rate'] as const;
export type NabProfileName = (typeof NAB_PROFILES)[number];

/** The files of NAB in the order of their names; none if the folder is not there. */
export function readNabInputs(nab: string, everyNth = 1): NabInput[] {
  const labels = join(nab, 'labels', 'combined_windows.json');
  if (!existsSync(labels)) return [];
  const windows = JSON.parse(readFileSync(labels, 'utf8')) as Readonly<Record<string, readonly [string, string][]>>;
  return Object.keys(windows)
    .sort()
    .filter((_, i) => i % everyNth === 0)
    .map((name) => {
      const lines = readFileSync(join(nab, 'data', name), 'utf8')
        .trim()
        .split(/\r?\n/)
        .slice(1);
      const rows = lines.map((line) => line.split(',') as [string, string]);
      const times = Float64Array.from(rows, ([time]) => timeMs(time));
      return {
        name,
        times,
        stepMs: times[1] - times[0],
        channels: [Float64Array.from(rows, ([, value]) => Number(value))],
        windows: windows[name].map(([from, to]) => {
          return { start: times.indexOf(timeMs(from)), end: times.indexOf(timeMs(to)) + 1 };
        }),
      };
    });
}

export function readNabProfiles(nab: string): Readonly<Record<NabProfileName, NabProfile>> {
  const text = readFileSync(join(nab, 'config', 'profiles.json'), 'utf8');
  type Weights = Readonly<Record<'tpWeight' | 'fpWeight' | 'fnWeight', number>>;
  const profiles = JSON.parse(text) as Readonly<Record<NabProfileName, { readonly CostMatrix: Weights }>>;
  const profile = (name: NabProfileName): NabProfile => {
    const { tpWeight, fpWeight, fnWeight } = profiles[name].CostMatrix;
    return { tp: tpWeight, fp: fpWeight, fn: fnWeight };
  };
  return {
    standard: profile('standard'),
    reward_low_FP_rate: profile('reward_low_FP_rate'),
    reward_low_FN_rate: profile('reward_low_FN_rate'),
  };
}

/** Of a folder with data/nab/. */
export function nabFolder(data: string): string {
  return join(data, 'data', 'nab');
}

/** Files say `2014-04-01 00:00:00`, labels add a fraction of a second that is none. */
function timeMs(text: string): number {
  return Date.parse(`${text.slice(0, 19).replace(' ', 'T')}Z`);
}
