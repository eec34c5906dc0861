import { START_MS, STEP_MS } from '../../fixture/stream/stream-run.ts';
import type { GoldenDetector, GoldenObservation, GoldenSettings } from './golden-file.ts';

export interface Scenario {
  readonly detector: GoldenDetector;
  readonly observations: readonly GoldenObservation[];
  /** Observations before this index are in the changelog; the others are scored after a restore. */
  readonly committed: number;
}

const PLAIN: GoldenSettings = {
  h: 4,
  detectionSize: 4,
  stepSize: 4,
  level: 90,
  thresholdMethod: 'univariate',
  calibration: 'robust',
  alarmRate: 0.01,
  calibrationSize: 28,
  context: 16,
  gapLimit: 5,
  grace: 1,
};
/** Positions of a window have two or three forecasts. */
const OVERLAPPING: GoldenSettings = { ...PLAIN, h: 6, detectionSize: 6, stepSize: 2, calibrationSize: 42, context: 24 };
const GROUP: GoldenSettings = { ...PLAIN, thresholdMethod: 'multivariate', gapLimit: 4, grace: 2 };

/** Deterministic values with jumps, so that some are flagged. */
function valueAt(series: number, step: number): number {
  const noise = (step * 7_919 + series * 104_729) % 101;
  const jump = (step + 5 * series) % 37 === 0 ? 60 : 0;
  return 1_000 * series + 10 * ((step + series) % 12) + noise / 8 + jump;
}

/**
 * Three series and room for two. `brief` is evicted and returns. `gappy` has a gap that is filled and one that makes it
 * start over.
 */
function seriesObservations(steps: number): GoldenObservation[] {
  const observations: GoldenObservation[] = [];
  const add = (series: number, name: string, step: number) => observations.push([name, step, valueAt(series, step)]);
  for (let step = 0; step < 9; step++) add(1, 'brief', step);
  for (let step = 0; step < steps; step++) {
    // In the end `steady` is the newer one, and stays where `brief` returns.
    if (step < steps - 1) add(2, 'steady', step);
    const isMissing = (step >= 11 && step < 14) || (step >= 20 && step < 30);
    if (!isMissing) add(3, 'gappy', step);
  }
  add(2, 'steady', steps - 1);
  for (let step = 60; step < 66; step++) add(1, 'brief', step);
  for (let step = steps; step < steps + 20; step++) add(2, 'steady', step);
  return observations;
}

/**
 * Two groups. In `rack` member `c` leaves for longer than the gap limit and returns, and `d` is new and late. At the
 * commit `b` is behind, so that steps are pending, and `d` waits to join.
 */
function groupObservations(steps: number): GoldenObservation[] {
  const observations: GoldenObservation[] = [];
  const add = (member: number, name: string, step: number, group: string) =>
    observations.push([name, step, valueAt(member, step), group]);
  for (let step = 0; step < steps; step++) {
    add(1, 'rack-a', step, 'rack');
    if (step >= 2) add(2, 'rack-b', step - 2, 'rack');
    if (step < 9 || step >= 17) add(3, 'rack-c', step, 'rack');
    if (step >= steps - 12) add(4, 'rack-d', step - 2, 'rack');
    if (step % 2 === 0) add(5, 'pump-a', step / 2, 'pump');
  }
  return observations;
}

/**
 * Series, or members of a group, at the commit: the newest records of all wait for older ones, `quiet` is silent, and a
 * record of `jumpy` that jumps ahead is held. The next one refutes it.
 */
function waiting(settings: GoldenSettings, group: string | null): Scenario {
  const observations: GoldenObservation[] = [];
  const add = (series: number, name: string, step: number) => {
    const value = valueAt(series, step);
    observations.push(group === null ? [name, step, value] : [name, step, value, group]);
  };
  const steps = 60;
  for (let step = 0; step < steps; step++) {
    add(1, 'steady', step);
    // Pairs come the wrong way round.
    add(2, 'late', step ^ 1);
    if (step < steps - 10) add(3, 'quiet', step);
    add(4, 'jumpy', step);
  }
  add(4, 'jumpy', steps + 40);
  const committed = observations.length;
  for (let step = steps; step < steps + 20; step++) {
    add(1, 'steady', step);
    add(2, 'late', step ^ 1);
    if (step > steps + 2) add(3, 'quiet', step);
    add(4, 'jumpy', step);
  }
  const detector = { group: group === null ? null : 'group', seriesMax: 4, withHeaders: true, settings };
  return { detector, observations, committed };
}

const WAITING = { latenessMs: 2 * STEP_MS, silenceAfter: 5 };

const HOUR_STEPS = 60;
const SPRING_DAY = 88;

/**
 * Weeks of hours by a clock that is set forward; the weekends are low, and one day begins late. At the commit a member
 * of the group has left. It returns.
 */
function weeks(isGroup: boolean): Scenario {
  const observations: GoldenObservation[] = [];
  const add = (name: string, step: number, value: number) =>
    observations.push(isGroup ? [name, step, value, 'rack'] : [name, step, value]);
  const hours = 24 * 24;
  for (let hour = 0; hour < hours; hour++) {
    const day = Math.floor(hour / 24);
    const isOpen = day % 7 < 5 && hour % 24 >= (day === 22 ? 13 : 8) && hour % 24 < 18;
    const step = (SPRING_DAY * 24 + hour) * HOUR_STEPS;
    add('office', step, (isOpen ? 1_000 : 100) + (valueAt(1, hour) % 13));
    if (isGroup && (hour < 20 * 24 || hour >= 21 * 24 + 10)) add('annex', step, (isOpen ? 50 : 20) + (hour % 5));
    if (isGroup) add('night', step, (isOpen ? 7 : 90) + (valueAt(2, hour) % 11));
  }
  const offsets = [
    [0, 3_600_000],
    [START_MS + (SPRING_DAY + 9) * 86_400_000, 7_200_000],
  ] as const;
  const profile = { calendar: { offsets, specialDays: [] }, stepMs: 3_600_000 };
  const settings = { ...(isGroup ? GROUP : PLAIN), alias: 'h', jitterMs: 1_800_000, profile };
  const committed = isGroup ? 2 * (21 * 24 + 5) + 20 * 24 : 21 * 24 + 5;
  return { detector: { group: isGroup ? 'group' : null, seriesMax: 2, settings }, observations, committed };
}

/**
 * Series, or members of a group, with several points a step, or counters. At the commit their newest steps are open,
 * and so is the one before, of which points come later; `stopped` has sent nothing for a while.
 */
function points(settings: GoldenSettings, group: string | null): Scenario {
  const observations: GoldenObservation[] = [];
  const add = (series: number, name: string, step: number) => {
    const value = valueAt(series, Math.floor(step)) + 10 * (step % 1);
    const counted = settings.as === undefined ? value : 500 * (step % 9) + value;
    observations.push(group === null ? [name, step, counted] : [name, step, counted, group]);
  };
  const begin = (series: number, name: string, step: number) => {
    for (const place of [0.125, 0.5, 0.375]) add(series, name, step + place);
  };
  const steps = 60;
  for (let step = 0; step < steps + 20; step++) {
    begin(1, 'steady', step);
    begin(2, 'late', step);
    if (step > 0) add(2, 'late', step - 0.25);
    if (step < steps - 1) begin(3, 'stopped', step);
  }
  const detector = { group: group === null ? null : 'group', seriesMax: 4, withHeaders: true, settings };
  return { detector, observations, committed: 10 * steps + 1 };
}

function scenario(settings: GoldenSettings, observations: readonly GoldenObservation[], committed: number): Scenario {
  const group = settings.thresholdMethod === 'multivariate' ? 'group' : null;
  return { detector: { group, seriesMax: 2, settings }, observations, committed };
}

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  plain: scenario(PLAIN, seriesObservations(80), 130),
  'plain-all': scenario({ ...PLAIN, calibrationSize: 'all' }, seriesObservations(80), 130),
  overlapping: scenario(OVERLAPPING, seriesObservations(110), 193),
  'overlapping-all': scenario({ ...OVERLAPPING, calibrationSize: 'all' }, seriesObservations(110), 193),
  group: scenario(GROUP, groupObservations(80), 233),
  weeks: weeks(false),
  'weeks-group': weeks(true),
  waiting: waiting({ ...PLAIN, ...WAITING }, null),
  'waiting-group': waiting({ ...GROUP, ...WAITING }, 'rack'),
  points: points({ ...PLAIN, latenessMs: STEP_MS, aggregate: 'p95' }, null),
  'points-group': points({ ...GROUP, latenessMs: STEP_MS, aggregate: 'mean', as: 'rate' }, 'rack'),
  counters: points({ ...PLAIN, as: 'increase' }, null),
};
