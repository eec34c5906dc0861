import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import type { StreamDetectionSettings } from '../../../src/detection/calibration/settings.ts';

/** The settings of a golden file. The frequency is one minute. */
export type GoldenSettings = Pick<
  StreamDetectionSettings,
  | 'h'
  | 'detectionSize'
  | 'stepSize'
  | 'level'
  | 'thresholdMethod'
  | 'calibrationSize'
  | 'context'
  | 'gapLimit'
  | 'grace'
> &
  Partial<
    Pick<
      StreamDetectionSettings,
      'calibration' | 'alarmRate' | 'jitterMs' | 'latenessMs' | 'silenceAfter' | 'profile' | 'aggregate' | 'as'
    >
  > & {
    /** Where it is not one minute; a step of an observation is one minute all the same. */
    readonly alias?: string;
  };

export interface GoldenDetector {
  readonly group: string | null;
  readonly seriesMax: number;
  /** Whether its records have headers. */
  readonly withHeaders?: boolean;
  readonly settings: GoldenSettings;
}

/** `group` only where series are scored in groups. */
export type GoldenObservation = readonly [series: string, step: number, value: number, group?: string];

/** Values are base64; null is a tombstone. */
export type GoldenChangelogRecord = readonly [key: string, value: string | null];

/** The fields of a score record that are compared. */
export interface GoldenScore {
  readonly series: string;
  readonly offset: number;
  readonly position: number;
  readonly state: string;
  readonly forecast: number | null;
  readonly lo: number | null;
  readonly hi: number | null;
  readonly anomalyScore: number | null;
  readonly accumulatedAnomalyScore: number | null;
  readonly anomaly: boolean;
  readonly grade?: number | null;
  readonly severity?: number | null;
  readonly alarm?: boolean;
  readonly windowStart: number;
  readonly restarted: boolean;
}

/** A changelog as a release wrote it, and the scores of the observations that followed. */
export interface GoldenFile {
  readonly detector: GoldenDetector;
  /** Input offset that the changelog was committed with: the index of the first observation that is not part of it. */
  readonly committed: number;
  readonly observations: readonly GoldenObservation[];
  /** After compaction: the newest record of each key, in log order. */
  readonly changelog: readonly GoldenChangelogRecord[];
  readonly scores: readonly GoldenScore[];
}

const folder = new URL('./', import.meta.url);
const fileOf = (format: number, name: string) => new URL(`format-${format}/${name}.jsonl`, folder);

/** The formats with golden files, and the names of the files. */
export function goldenNames(): { readonly format: number; readonly name: string }[] {
  return readdirSync(folder).flatMap((entry) => {
    const format = /^format-(\d+)$/.exec(entry)?.[1];
    if (format === undefined) return [];
    const names = readdirSync(new URL(`${entry}/`, folder)).map((file) => file.replace(/\.jsonl$/, ''));
    return names.map((name) => ({ format: Number(format), name }));
  });
}

export function hasGolden(format: number, name: string): boolean {
  return existsSync(fileOf(format, name));
}

/** One JSON value a line: detector and committed offset, then observations, changelog records and scores. */
export async function writeGolden(format: number, name: string, golden: GoldenFile): Promise<void> {
  const { detector, committed, observations, changelog, scores } = golden;
  const lines = [
    { detector, committed },
    ...observations.map((observation) => ({ observation })),
    ...changelog.map((record) => ({ changelog: record })),
    ...scores.map((score) => ({ score })),
  ];
  const file = fileOf(format, name);
  await mkdir(new URL('./', file), { recursive: true });
  await writeFile(file, `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);
}

export function readGolden(format: number, name: string): GoldenFile {
  const lines = readFileSync(fileOf(format, name), 'utf8').trimEnd().split('\n');
  const [head, ...rows] = lines.map((line) => JSON.parse(line));
  return {
    ...head,
    observations: rows.flatMap(({ observation }) => (observation === undefined ? [] : [observation])),
    changelog: rows.flatMap(({ changelog }) => (changelog === undefined ? [] : [changelog])),
    scores: rows.flatMap(({ score }) => (score === undefined ? [] : [score])),
  };
}
