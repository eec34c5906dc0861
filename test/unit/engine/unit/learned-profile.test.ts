import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamDetectionSettings } from '../../../../src/detection/calibration/settings.ts';
import type { WarmStart } from '../../../../src/engine/warm-start.ts';
import { parseFrequency } from '../../../../src/time/frequency.ts';
import { UTC_CALENDAR } from '../../../../src/time/local-calendar.ts';
import {
  detectorConfig,
  START_MS,
  STEP_MS,
  streamRun,
  streamSettings,
  TOPICS,
} from '../../../fixture/stream/stream-run.ts';
import { MemoryBroker } from '../../../fixture/stream-log/memory-log.ts';

const HOUR_MS = 3_600_000;
const HOUR_STEPS = HOUR_MS / STEP_MS;
/** Not Sunday: like one in the fourth week. */
const QUIET_DAY = 22;

/** By day busy but on two days of a week. */
function valueAt(hour: number): number {
  const day = Math.floor(hour / 24);
  const isBusy = day % 7 < 5 && day !== QUIET_DAY && hour % 24 >= 8 && hour % 24 < 18;
  return (isBusy ? 1_000 : 100) + ((hour * 7_919) % 13);
}

function settingsOf(changed: Partial<StreamDetectionSettings>): StreamDetectionSettings {
  const profile = { calendar: UTC_CALENDAR, stepMs: HOUR_MS };
  return streamSettings({ freq: parseFrequency('h')!, jitterMs: HOUR_MS / 2, gapLimit: 32, profile, ...changed });
}

const MEMBERS = [
  ['office', 1],
  ['branch', 0.1],
] as const;

interface Part {
  readonly toHour: number;
  /** From the hour before on, unless hours are left out. */
  readonly fromHour?: number;
  /** Members that send in it, where not all do. */
  readonly only?: readonly string[];
  readonly settings?: Partial<StreamDetectionSettings>;
  readonly warmStart?: WarmStart;
}

/** Event hours of the alarms that the values of the last part raised on their quiet day. */
async function alarmsOf(parts: readonly Part[], isGrouped = false): Promise<number[]> {
  const broker = new MemoryBroker(TOPICS, 1);
  let hour = 0;
  let run = streamRun({ broker });
  for (const { fromHour = hour, toHour, only, settings = {}, warmStart } of parts) {
    for (hour = fromHour; hour < toHour; hour++) {
      for (const [series, scale] of isGrouped ? MEMBERS : [['office', 1] as const]) {
        if (only?.includes(series) === false) continue;
        run.feed([[series, hour * HOUR_STEPS, scale * valueAt(hour), isGrouped ? 'g' : undefined]]);
      }
    }
    const chosen = settingsOf({ ...settings, ...(isGrouped && { thresholdMethod: 'multivariate' as const }) });
    run = streamRun({ detectors: [detectorConfig({ settings: chosen, group: isGrouped ? 'group' : null })], broker });
    await run.scoreAll(warmStart === undefined ? {} : { warmStart });
  }
  const alarms = run.scores().filter(({ alarm }) => alarm);
  return alarms
    .map((score) => (score.timestampMs - START_MS) / HOUR_MS - 24 * QUIET_DAY)
    .filter((at) => at >= 0 && at < 24);
}

const isNoticed = (alarms: readonly number[]) =>
  assert.ok(
    alarms.some((at) => at >= 8 && at < 12),
    `alarms at ${alarms}`,
  );

const END = 24 * QUIET_DAY + 18;
const LEARNED = { toHour: 24 * 21 };

test('a day like a Sunday raises an alarm by the seasonal profile alone', async () => {
  isNoticed(await alarmsOf([LEARNED, { toHour: END }]));
  assert.deepEqual(await alarmsOf([LEARNED, { toHour: END, settings: { profile: null } }]), []);
});

for (const [what, settings] of [
  ['other settings', { h: 2, detectionSize: 2, stepSize: 2, calibrationSize: 16 }],
  ['another context', { context: 24 }],
  ['another clock', { profile: { calendar: { offsets: [[0, 5 * HOUR_MS]], specialDays: [] }, stepMs: HOUR_MS } }],
] as const) {
  test(`the seasonal profile continues under ${what}`, async () => {
    for (const isGrouped of [false, true]) {
      isNoticed(await alarmsOf([LEARNED, { toHour: END, settings }], isGrouped));
    }
  });
}

test('a day like a Sunday raises an alarm of a group by the seasonal profiles of its members alone', async () => {
  isNoticed(await alarmsOf([LEARNED, { toHour: END }], true));
  assert.deepEqual(await alarmsOf([LEARNED, { toHour: END, settings: { profile: null } }], true), []);
});

test('the seasonal profiles of a group learn of the values that it begins with where these have times', async () => {
  const settings = { profile: null };
  const alarms = await alarmsOf([{ toHour: 24 * 7 }, { toHour: END - 24, settings }, { toHour: END }], true);
  assert.deepEqual(alarms, [], 'two days are no weeks');
  const more = { context: 600 };
  const first = { toHour: END - 24, settings: { ...settings, ...more } };
  isNoticed(await alarmsOf([first, { toHour: END, settings: more }], true));
});

test('the seasonal profile outlasts a gap after which a series, or a group, starts over', async () => {
  for (const isGrouped of [false, true]) {
    isNoticed(await alarmsOf([{ toHour: 24 * 19 }, { fromHour: 24 * 21, toHour: END }], isGrouped));
  }
});

for (const [what, before, settings] of [
  ['', {}, {}],
  [', also under other settings', {}, { context: 24 }],
  [', also where its context was empty as settings changed', { context: 24, gapLimit: 44 }, { context: 32 }],
  [', also where it leaves by other settings', { context: 64, gapLimit: 44 }, { context: 64, gapLimit: 32 }],
] as const) {
  test(`a member that left its group and returns has its seasonal profile again${what}`, async () => {
    const parts = [
      { toHour: 24 * 19, settings: before },
      { toHour: 24 * 21 - 5, only: ['branch'], settings: before },
      { toHour: 24 * 21, only: ['branch'], settings },
      { toHour: END, only: ['office'], settings },
    ];
    isNoticed(await alarmsOf(parts, true));
  });
}

test('a member that is away for longer than its group keeps series returns without its seasonal profile', async () => {
  const away = { only: ['branch'], settings: { idleMs: 33 * HOUR_MS } };
  const parts = [
    { toHour: 24 * 19, settings: away.settings },
    { toHour: 24 * 21, ...away },
  ];
  assert.deepEqual(await alarmsOf([...parts, { ...away, toHour: END, only: ['office'] }], true), []);
});

test('a warm start fills the seasonal profile', async () => {
  const observations = Array.from({ length: 24 * 21 }, (_, hour) => {
    return { series: 'office', group: null, timestampMs: START_MS + hour * HOUR_MS, value: valueAt(hour) };
  });
  const warmStart: WarmStart = { source: 'history', observationsOf: () => observations };
  isNoticed(await alarmsOf([{ fromHour: 24 * 21, toHour: END, warmStart }]));
});
