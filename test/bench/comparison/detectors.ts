/** Detectors that install by package, and rules that people write by hand, each with its defaults. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pythonWith } from '../../fixture/http/python.ts';
import type { SeriesInput } from '../detection/labelled-data.ts';
import { judge } from '../detection/product.ts';
import { episodesOf } from '../detection/promise.ts';
import { packed, RANDOM_CUT_FORESTS } from '../detection/rivals/processes.ts';
import recorded from '../figures.json' with { type: 'json' };
import type { Case } from './cases.ts';
import { DAY_MS, promqlScore, threeDeviations } from './rules.ts';

const run = promisify(execFile);
const RIVER = 'river==0.26.1';
const STATSFORECAST = 'statsforecast==2.1.1';

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
  program('random cut forest', 'random_cut_forest', {
    defaults: `randomcutforest-parkservices ${RANDOM_CUT_FORESTS.version}, shingle of 8`,
    command: async () => [
      ...(await RANDOM_CUT_FORESTS.command()).slice(0, -1),
      join(import.meta.dirname, 'RandomCutForests.java'),
    ],
  }),
  program('half-space trees', 'half_space_trees', {
    defaults: `${RIVER}, QuantileFilter 0.95`,
    command: async () => [await pythonWith([RIVER]), join(import.meta.dirname, 'river_detectors.py')],
    last: () => 'trees',
  }),
  program('Gaussian', 'gaussian', {
    defaults: `${RIVER}, three deviations`,
    command: async () => [await pythonWith([RIVER]), join(import.meta.dirname, 'river_detectors.py')],
    last: () => 'gaussian',
  }),
  program('seasonal naive, conformal', 'seasonal_naive', {
    defaults: `${STATSFORECAST}, intervals of 99 %`,
    command: async () => [await pythonWith([STATSFORECAST]), join(import.meta.dirname, 'seasonal_naive.py')],
    last: (cases) => cases.map(seasonOf).join(','),
  }),
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

interface Program {
  readonly defaults: string;
  command(): Promise<readonly string[]>;
  /** The argument behind the files. */
  readonly last?: (cases: readonly Case[]) => string;
}

function program(name: string, key: string, { defaults, command, last }: Program): Detector {
  return {
    name,
    key,
    defaults,
    async judge(cases) {
      const [file, ...args] = await command();
      const folder = await mkdtemp(join(tmpdir(), 'tidewatch-comparison-'));
      try {
        const [from, to] = [join(folder, 'in'), join(folder, 'out')];
        await writeFile(from, packed(cases));
        await run(file, [...args, from, to, ...(last ? [last(cases)] : [])], { maxBuffer: 1e8 });
        const [perSecond, bytesPerSeries, ...rows] = new Float64Array(new Uint8Array(await readFile(to)).buffer);
        let at = 0;
        const judged = cases.map(({ times }) => {
          const mine = rows.slice(2 * at, 2 * (at + times.length));
          at += times.length;
          const scores = Float64Array.from(times, (_, row) => mine[2 * row]);
          return withStarts({ scores, alarms: Uint8Array.from(times, (_, row) => mine[2 * row + 1]) });
        });
        return { judged, micros: (1e6 * at) / perSecond!, bytesPerSeries: bytesPerSeries! };
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  };
}

function withStarts(judged: Judged): JudgedCase {
  return { ...judged, grades: judged.scores, starts: episodesOf(judged.alarms).map(({ start }) => start) };
}

/** Rows of a day, of a week of daily values, at least of 24. */
function seasonOf({ stepMs }: Case): number {
  return stepMs >= DAY_MS ? 7 : Math.max(24, Math.round(DAY_MS / stepMs));
}
