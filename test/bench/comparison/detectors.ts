/** Detectors that install by package, and rules that people write by hand, each with its defaults. */
import type { SeriesInput } from '../detection/labelled-data.ts';
import { judge } from '../detection/product.ts';
import {
  DEFAULT_FORESTS,
  GAUSSIAN,
  HALF_SPACE_TREES,
  type RivalProgram,
  runRival,
  SEASONAL_NAIVE,
} from '../detection/rivals/processes.ts';
import { episodesOf } from '../detection/target-rate.ts';
import recorded from '../figures.json' with { type: 'json' };
import type { Case } from './cases.ts';
import { DAY_MS, promqlScore, threeDeviations } from './rules.ts';

/** What a detector reports of one series. */
export interface Judged {
  /** Larger is more anomalous; NaN or 0 where a row is not scored. */
  readonly scores: Float64Array;
  /** 1 where there is an alarm by its defaults. */
  readonly alarms: Uint8Array;
}

/** With the rows at which its events begin: those of ours, and runs of alarms without a gap of 24 rows of others. */
export interface JudgedCase extends Judged {
  /** Scores for event F1; `scores` are for VUS-PR. */
  readonly grades: Float64Array;
  readonly starts: readonly number[];
}

interface Judgement {
  readonly judged: readonly JudgedCase[];
  /** Processor time of all rows, in microseconds. */
  readonly micros: number;
  readonly bytesPerSeries: number;
}

export interface Detector {
  readonly name: string;
  readonly key: string;
  readonly defaults: string;
  judge(cases: readonly Case[]): Promise<Judgement>;
}

export const DETECTORS: readonly Detector[] = [
  { name: 'Tidewatch', key: 'tidewatch', defaults: 'backtest without flags', judge: judgeOurs },
  rival('random cut forest', 'random_cut_forest', 'randomcutforest-parkservices, shingle of 8', DEFAULT_FORESTS),
  rival('half-space trees', 'half_space_trees', 'QuantileFilter 0.95', HALF_SPACE_TREES),
  rival('Gaussian', 'gaussian', 'three deviations', GAUSSIAN),
  rival('seasonal naive, conformal', 'seasonal_naive', 'intervals of 99 %', SEASONAL_NAIVE),
  rule(
    'mean and 3 deviations, 30 points',
    'deviations_30',
    'alarm beyond 3',
    (input) => threeDeviations(input, 30),
    30,
  ),
  rule(
    'mean and 3 deviations, a day',
    'deviations_day',
    'alarm beyond 3',
    (input) => threeDeviations(input, Math.max(30, Math.round(DAY_MS / input.stepMs))),
    288,
  ),
  rule('PromQL z-score, 1h over 1w', 'promql', 'alarm beyond 3', promqlScore, 2_016),
];

async function judgeOurs(cases: readonly Case[]): Promise<Judgement> {
  const begun = process.cpuUsage();
  const verdicts = await judge(cases);
  const { user, system } = process.cpuUsage(begun);
  const judged = verdicts.map(({ severity, grade, alarm, events }, i): JudgedCase => {
    const opened = new Map(events.map(({ eventId, firstAlarmAtMs }) => [eventId, firstAlarmAtMs]));
    const starts = [...opened.values()].map((ms) => cases[i].times.indexOf(ms)).filter((row) => row >= 0);
    return { scores: severity, grades: grade, alarms: alarm, starts: starts.sort((a, b) => a - b) };
  });
  return { judged, micros: user + system, bytesPerSeries: recorded.memory.figures.bytes_per_series };
}

/** @param values that it remembers of a series of five minutes */
function rule(
  name: string,
  key: string,
  defaults: string,
  judgeOne: (input: SeriesInput) => Judged,
  values: number,
): Detector {
  return {
    name,
    key,
    defaults,
    async judge(cases) {
      const begun = process.cpuUsage();
      const judged = cases.map((one) => withStarts(judgeOne(one)));
      const { user, system } = process.cpuUsage(begun);
      return { judged, micros: user + system, bytesPerSeries: 8 * values };
    },
  };
}

function rival(name: string, key: string, settings: string, program: RivalProgram): Detector {
  return {
    name,
    key,
    defaults: `${program.version}, ${settings}`,
    async judge(cases) {
      const { scores, alarms, observationsPerSecond, bytesPerSeries } = await runRival(program, cases);
      const rows = cases.reduce((sum, { times }) => sum + times.length, 0);
      const judged = scores.map((of, i) => withStarts({ scores: of, alarms: alarms[i] }));
      return { judged, micros: (1e6 * rows) / observationsPerSecond, bytesPerSeries };
    },
  };
}

function withStarts(judged: Judged): JudgedCase {
  return { ...judged, grades: judged.scores, starts: episodesOf(judged.alarms).map(({ start }) => start) };
}
