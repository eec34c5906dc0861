/** What people have: the events that `backtest` finds in each series at its defaults, and those that it must not. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { AnomalyEvent } from '../../../src/records/anomaly-event.ts';
import { startCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { seededRandom } from '../../fixture/seeded-random.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
/** A Monday. */
const START_MS = Date.UTC(2026, 7, 3);

interface OrdinaryCase {
  readonly stepMs: number;
  readonly lengthMs: number;
  /** Time from START_MS; a null is a row that the file does not have. */
  valueAt(ms: number, normal: () => number): number | null;
  /** First alarms of events, from START_MS, ascending. Throws, or is false, where they are not what they should be. */
  isRight(alarms: readonly number[]): boolean;
}

const weekOf = (ms: number) => Math.floor(ms / WEEK_MS);
const dayOf = (ms: number) => Math.floor(ms / DAY_MS) % 7;
const hourOf = (ms: number) => (ms % DAY_MS) / HOUR_MS;
const within = (from: number, to: number) => (ms: number) => ms >= from && ms < to;
const at = (week: number, day: number, hour: number) => week * WEEK_MS + day * DAY_MS + hour * HOUR_MS;

/** A series that rests, and is elsewhere for `rows` from row 3,000 on. */
function flat(rest: number, away: number, { stepMs = MINUTE_MS, rows = 240, early = rest } = {}): OrdinaryCase {
  const leftMs = 3_000 * stepMs;
  return {
    stepMs,
    lengthMs: leftMs + 500 * stepMs,
    valueAt: (ms) => (ms === 100 * stepMs ? early : ms >= leftMs && ms < leftMs + rows * stepMs ? away : rest),
    isRight: (alarms) => alarms.length === 1 && within(leftMs, leftMs + 3 * stepMs)(alarms[0]),
  };
}

function weeklyJob(change: 'none' | 'missing' | 'doubled'): OrdinaryCase {
  const changedMs = at(11, 2, 3);
  return {
    stepMs: 10 * MINUTE_MS,
    lengthMs: 14 * WEEK_MS,
    valueAt(ms, normal) {
      const isJob = dayOf(ms) === 2 && hourOf(ms) >= 3 && hourOf(ms) < 4;
      const factor = weekOf(ms) === 11 ? { none: 1, missing: 0.04, doubled: 2 }[change] : 1;
      return (isJob ? 500 * factor : 20) * (1 + 0.045 * normal());
    },
    isRight(alarms) {
      const ofJobs = alarms.filter((ms) => ms >= 4 * WEEK_MS && dayOf(ms) === 2 && hourOf(ms) >= 2 && hourOf(ms) < 7);
      return change === 'none'
        ? ofJobs.length === 0
        : ofJobs.length > 0 && ofJobs.every(within(changedMs, changedMs + HOUR_MS));
    },
  };
}

function closedAtWeekends(outage: boolean): OrdinaryCase {
  const outageMs = at(12, 1, 9);
  return {
    stepMs: 10 * MINUTE_MS,
    lengthMs: outage ? 13 * WEEK_MS : 16 * WEEK_MS,
    valueAt(ms, normal) {
      const isOpen = dayOf(ms) < 5 && hourOf(ms) >= 8 && hourOf(ms) < 18;
      if (!isOpen || (outage && ms >= outageMs && ms < outageMs + 3 * HOUR_MS)) return 0;
      return Math.round(300 * (1 - ((hourOf(ms) - 13) / 8) ** 2) * (1 + 0.05 * normal()));
    },
    isRight(alarms) {
      const late = alarms.filter((ms) => ms >= at(2, 5, 0));
      if (outage) return late.some(within(outageMs, outageMs + HOUR_MS / 2));
      return late.every((ms) => dayOf(ms) < 5);
    },
  };
}

/** A business, quiet at night and on weekends. */
function business(stepMs: number, lengthMs: number, factorAt: (ms: number) => number) {
  return {
    stepMs,
    lengthMs,
    valueAt(ms: number, normal: () => number) {
      const open = Math.exp(-(((hourOf(ms) - 13) / 4) ** 4));
      const usual = dayOf(ms) < 5 ? open : 0.15 * open;
      return (40 + 200 * usual) * factorAt(ms) * (1 + 0.04 * normal());
    },
  };
}

/** A level that changes, and may return. */
function levelOf(factor: number, stepMs: number, [fromMs, untilMs]: readonly [number, number]): OrdinaryCase {
  const lengthMs = Math.min(untilMs, at(8, 0, 0)) + WEEK_MS;
  const [spikeMs, isFound] = [at(7, 3, 13), untilMs > lengthMs];
  const isSpike = within(spikeMs, isFound ? spikeMs + 2 * HOUR_MS : spikeMs);
  return {
    ...business(stepMs, lengthMs, (ms) => (within(fromMs, untilMs)(ms) ? factor : 1) * (isSpike(ms) ? 2 : 1)),
    isRight(alarms) {
      const [changes, returns] = [fromMs, untilMs].map((ms) => alarms.filter(within(ms, ms + DAY_MS)));
      const others = alarms.filter((ms) => ms >= fromMs + DAY_MS && !within(untilMs, untilMs + DAY_MS)(ms));
      return changes.length === 1 && returns.length <= 1 && others.length === Number(isFound) && others.every(isSpike);
    },
  };
}

const incident: OrdinaryCase = {
  ...business(10 * MINUTE_MS, 9 * WEEK_MS, (ms) => (within(at(5, 3, 0), at(5, 5, 0))(ms) ? 1.6 : 1)),
  isRight(alarms) {
    const late = alarms.filter((ms) => ms >= at(5, 3, 0));
    return late.length > 0 && late.every(within(at(5, 3, 0), at(5, 5, 2)));
  },
};

const leakMs = at(1, 1, 7);
const leak: OrdinaryCase = {
  stepMs: 5 * MINUTE_MS,
  lengthMs: at(1, 2, 12),
  valueAt(ms, normal) {
    const steps = (ms - leakMs) / (5 * MINUTE_MS);
    const leaked = steps >= 0 && steps < 60 ? 0.35 * steps : 0;
    return 46 + 5 * Math.sin((Math.PI * (hourOf(ms) - 9)) / 12) + 0.5 * normal() + leaked;
  },
  isRight: (alarms) => {
    const late = alarms.filter((ms) => ms >= leakMs);
    return late.length === 1 && late.every(within(leakMs, leakMs + 3 * HOUR_MS));
  },
};

/** A wave with one glitch, and a spike of twenty deviations two days later. */
function glitch(value: number, stepMs: number, rows = 1): OrdinaryCase {
  const [glitchMs, spikeMs] = [at(1, 1, 6), at(1, 3, 2)];
  return {
    stepMs,
    lengthMs: at(1, 3, 4),
    valueAt: (ms, normal) => {
      const usual = 100 + 20 * Math.sin((Math.PI * hourOf(ms)) / 12) + normal();
      if (ms >= glitchMs && ms < glitchMs + rows * stepMs) return value;
      return ms === spikeMs ? usual + 20 : usual;
    },
    isRight: (alarms) => {
      const late = alarms.filter((ms) => ms >= glitchMs);
      return late.length === 2 && late[0] === glitchMs && late[1] === spikeMs;
    },
  };
}

/** A wave with one spike within its range, which comes back neither a season nor two seasons later. */
function spike(size: number, hour: number, stepMs: number): OrdinaryCase {
  const spikeMs = at(1, 2, hour);
  return {
    stepMs,
    lengthMs: at(1, 4, hour + 5),
    valueAt: (ms, normal) => 100 + 20 * Math.sin((Math.PI * hourOf(ms)) / 12) + normal() + (ms === spikeMs ? size : 0),
    isRight: (alarms) => alarms.some((ms) => ms === spikeMs) && !alarms.some(within(spikeMs + 1, spikeMs + WEEK_MS)),
  };
}

/** A wave without some of its values. */
function gap(rows: number): OrdinaryCase {
  const gapMs = at(1, 3, 5);
  return {
    stepMs: HOUR_MS,
    lengthMs: 20 * DAY_MS,
    valueAt: (ms, normal) => {
      const value = 100 + 20 * Math.sin((Math.PI * hourOf(ms)) / 12) + normal();
      return ms >= gapMs && ms < gapMs + rows * HOUR_MS ? null : value;
    },
    isRight: (alarms) => !alarms.some(within(gapMs, gapMs + 2 * DAY_MS)),
  };
}

/** A business by the day: quiet weekends, noise of 3 %. */
function daily(outlierAt: number | null): OrdinaryCase {
  return {
    stepMs: DAY_MS,
    lengthMs: 400 * DAY_MS,
    valueAt(ms, normal) {
      const outlier = outlierAt !== null && ms === outlierAt * DAY_MS ? 30 : 0;
      return (dayOf(ms) < 5 ? 100 : 40) + 3 * normal() + outlier;
    },
    isRight(alarms) {
      const isOutlier = (ms: number) => outlierAt !== null && within(outlierAt, outlierAt + 2)(ms / DAY_MS);
      return alarms.filter((ms) => !isOutlier(ms)).length <= 1 && alarms.some(isOutlier) === (outlierAt !== null);
    },
  };
}

/** Mondays and Thursdays from 05:00 to 06:30, while slots of the profile have an hour. */
const jobTwiceAWeek: OrdinaryCase = {
  stepMs: 10 * MINUTE_MS,
  lengthMs: 12 * WEEK_MS,
  valueAt(ms, normal) {
    const isJob = (dayOf(ms) === 0 || dayOf(ms) === 3) && hourOf(ms) >= 5 && hourOf(ms) < 6.5;
    return (isJob ? 400 : 50) * (1 + 0.045 * normal());
  },
  isRight: (alarms) => !alarms.some((ms) => ms >= 4 * WEEK_MS && within(5, 7)(hourOf(ms))),
};

/** A service that is down for 60 hours, three times: no more often than the target, once in 1,000 rows. */
const outages = [1_200, 1_360, 2_060].map((row) => row * HOUR_MS);
const downAgain: OrdinaryCase = {
  stepMs: HOUR_MS,
  lengthMs: 2_300 * HOUR_MS,
  valueAt: (ms) => (outages.some((from) => within(from, from + 60 * HOUR_MS)(ms)) ? 0 : 1),
  isRight: (alarms) => alarms.length === 3 && outages.every((from, i) => within(from, from + 3 * HOUR_MS)(alarms[i])),
};

const CASES: Readonly<Record<string, OrdinaryCase>> = {
  '5 that becomes 6': flat(5, 6, { rows: 500 }),
  'a service that is down for four hours': flat(1, 0),
  'a service that is down, by 5 minutes': flat(1, 0, { stepMs: 5 * MINUTE_MS, rows: 24 }),
  'a service that is down, behind one odd value': flat(1, 0, { early: 0.99 }),
  'an error count that stays': flat(0, 1, { rows: 500 }),
  'the last digit of a share': flat(99.9, 99.8, { rows: 500 }),
  'a service that is down again': downAgain,
  '5 that becomes 6, with missing rows next to it': {
    ...flat(5, 6, { rows: 500 }),
    valueAt: (ms) => ([-1, 1].includes(ms / MINUTE_MS - 3_000) ? null : ms < 3_000 * MINUTE_MS ? 5 : 6),
    isRight: (alarms) => alarms.length === 1 && within(0, 4 * MINUTE_MS)(alarms[0] - 3_000 * MINUTE_MS),
  },
  '0.1 + 0.2 among 0.3': {
    ...flat(0, 0),
    valueAt: (ms) => (ms > 3_000 * MINUTE_MS && (ms / MINUTE_MS) % 7 < 2 ? 0.1 + 0.2 : 0.3),
    isRight: (alarms) => alarms.length === 0,
  },
  'a lone 1 among zeros': { ...flat(0, 1, { rows: 1 }), isRight: (alarms) => alarms.length === 0 },
  'a duty cycle': {
    stepMs: 5 * MINUTE_MS,
    lengthMs: 14 * DAY_MS,
    valueAt: (ms) => (ms % (6 * HOUR_MS) < HOUR_MS ? 1 : 0),
    isRight: (alarms) => alarms.length === 0,
  },
  'a weekly job': weeklyJob('none'),
  'a weekly job that is missing once': weeklyJob('missing'),
  'a weekly job that takes twice as much once': weeklyJob('doubled'),
  'a job twice a week that ends within an hour': jobTwiceAWeek,
  'closed at weekends': closedAtWeekends(false),
  'closed at weekends, with an outage on a Tuesday': closedAtWeekends(true),
  'a business by the day': daily(null),
  'a business by the day, with an outlier after four months': daily(120),
  'an incident of two days': incident,
  'a level that doubles for good': levelOf(2, 10 * MINUTE_MS, [at(5, 1, 10), Number.POSITIVE_INFINITY]),
  'a level that halves for good': levelOf(0.5, HOUR_MS, [at(5, 3, 9), Number.POSITIVE_INFINITY]),
  'a week of sales': levelOf(2, HOUR_MS, [at(5, 0, 0), at(6, 0, 0)]),
  'a leak of five hours': leak,
  'a spike two days behind a glitch': glitch(200, 10 * MINUTE_MS),
  'a spike two days behind a large glitch': glitch(2_000, HOUR_MS),
  'a spike two days behind a sentinel': glitch(-1e9, 5 * MINUTE_MS),
  'a spike two days behind three rows of a sentinel': glitch(-1e9, HOUR_MS, 3),
  'a spike two days behind three rows of a glitch': glitch(200, 5 * MINUTE_MS, 3),
  'a spike two days behind four rows of a glitch': glitch(200, HOUR_MS, 4),
  'a spike within the range of a wave': spike(30, 12, 5 * MINUTE_MS),
  'a spike within the range of a wave, by the hour': spike(20, 18, HOUR_MS),
  'a dip within the range of a wave, by the hour': spike(-20, 2, HOUR_MS),
  'one missing value in a wave': gap(1),
  'three missing values in a wave': gap(3),
  'six missing values in a wave': gap(6),
};

function linesOf([name, { stepMs, lengthMs, valueAt }]: readonly [string, OrdinaryCase]): string[] {
  const random = seededRandom(1);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Array.from({ length: lengthMs / stepMs }, (_, i) => i * stepMs).flatMap((ms) => {
    const value = valueAt(ms, normal);
    return value === null ? [] : [`"${name}",${START_MS + ms},${value}`];
  });
}

/**
 * First alarms of the events that `backtest` finds, by series.
 * @param freq of a detectors file, whose windows begin at a step that the id of a series decides; null: flags
 */
async function alarmsOf(
  cases: readonly (readonly [string, OrdinaryCase])[],
  freq: string | null,
): Promise<Map<string, number[]>> {
  const folder = freshFolder();
  const [csv, out, events] = ['cases.csv', 'scores.csv', 'events.jsonl'].map((name) => join(folder, name));
  await writeFile(csv, `series,timestamp,value\n${cases.flatMap(linesOf).join('\n')}\n`);
  const file = join(folder, 'detectors.yaml');
  if (freq !== null)
    await writeFile(file, `detectors:\n  - { name: cases, series: ['*'], freq: ${freq}, h: 24, detection_size: 24 }\n`);
  const flags = ['--out', out, '--events-out', events, ...(freq === null ? [] : ['--detectors', file])];
  const command = startCommand(['backtest', csv, ...flags], { INFERENCE_THREADS: '2' });
  assert.equal(await command.exitCode, 0, command.err.join('\n'));
  const revisions = (await readFile(events, 'utf8')).split('\n').filter((line) => line !== '');
  const opened = revisions.map((line): AnomalyEvent => JSON.parse(line)).filter(({ type }) => type === 'opened');
  const alarms = new Map(cases.map(([name]) => [name, [] as number[]]));
  for (const { series, kind, firstAlarmAtMs } of opened) {
    if (kind !== 'silence') alarms.get(series!)!.push(firstAlarmAtMs - START_MS);
  }
  return alarms;
}

const STEPS: Readonly<Record<string, number>> = {
  '1min': MINUTE_MS,
  '5min': 5 * MINUTE_MS,
  '10min': 10 * MINUTE_MS,
  h: HOUR_MS,
  D: DAY_MS,
};

for (const [step, stepMs] of Object.entries(STEPS)) {
  for (const freq of [null, step]) {
    const by = freq === null ? 'flags' : 'a detectors file';
    test(`ordinary series are judged as people expect, at steps of ${step}, by ${by}`, async (t) => {
      const ofStep = Object.entries(CASES).filter((each) => each[1].stepMs === stepMs);
      const cases = ofStep.flatMap(([name, each]) =>
        (freq === null ? [name] : [name, `${name}, here`, `${name}, there`]).map((id) => [id, each] as const),
      );
      const alarms = await alarmsOf(cases, freq);
      for (const [name, { isRight }] of cases) {
        const found = alarms.get(name)!;
        await t.test(name, () => {
          const times = found.map((ms) => new Date(START_MS + ms).toISOString().slice(0, 16));
          assert.ok(isRight(found), `alarms at ${times.join(', ') || 'no time'}`);
        });
      }
    });
  }
}
