import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { parseFrequency } from '../../../../src/time/frequency.ts';
import {
  detectorConfig,
  observationRecord,
  START_MS,
  STEP_MS,
  streamRun,
  streamSettings,
} from '../../../fixture/stream/stream-run.ts';
import { until } from '../../../fixture/until.ts';

const MEMBERS = ['a', 'b', 'c'];
const settings = streamSettings({ context: 64, gapLimit: 64, silenceAfter: 4 });
const detectors = [
  detectorConfig({ name: 'alone', series: ['other'], settings: { ...settings, silenceAfter: null } }),
  detectorConfig({ group: 'group', settings: { ...settings, thresholdMethod: 'multivariate' } }),
];

/** 90 steps, of which `sends` says which member sends one; another series always does. The worker restarts at some. */
async function scored(
  sends: (series: string, step: number) => boolean,
  {
    restartAt = [],
    watching = detectors,
  }: { readonly restartAt?: readonly number[]; readonly watching?: typeof detectors } = {},
) {
  const run = streamRun({ detectors: watching });
  let worker = await run.start();
  for (let step = 0; step < 90; step++) {
    for (const series of MEMBERS.filter((one) => sends(one, step))) {
      run.broker.appendRecord(0, observationRecord(series, step, (step * 7 + series.charCodeAt(0)) % 5, 'g'));
    }
    run.broker.appendRecord(0, observationRecord('other', step, step % 3));
    if (!restartAt.includes(step)) continue;
    await run.settled();
    await worker.stop();
    worker = await run.start();
  }
  await run.settled();
  await worker.stop();
  return run;
}

type Run = Awaited<ReturnType<typeof scored>>;

const stepOf = (timestampMs: number) => (timestampMs - START_MS) / STEP_MS;
const said = (run: Run) =>
  run
    .scores()
    .filter(({ state }) => state === 'silent' || state === 'returned')
    .map(({ state, series, group, position, timestampMs, cause }) => [
      state,
      series,
      group,
      position,
      stepOf(timestampMs),
      cause,
    ]);
const silences = (run: Run) =>
  run
    .events()
    .filter(({ kind }) => kind === 'silence')
    .map(({ type, series, group, closeReason, members }) => [
      type,
      series,
      group,
      closeReason,
      members.map((one) => one.series),
    ]);

test('a member that stops is reported silent once, and back once; it is an event of its group', async () => {
  const run = await scored((series, step) => series !== 'b' || step < 30 || step >= 50);
  assert.deepEqual(said(run), [
    ['silent', 'b', 'g', 30, 33, 'event-time'],
    ['returned', 'b', 'g', 50, 50, null],
  ]);
  assert.deepEqual(silences(run), [
    ['opened', null, 'g', null, ['b']],
    ['closed', null, 'g', 'returned', ['b']],
  ]);
  const silent = run.scores().find(({ state }) => state === 'silent');
  const last = run.scores().find(({ series, position }) => series === 'b' && position === 29);
  assert.deepEqual([silent?.value, silent?.input], [last?.value, last?.input]);
});

test('a group that stops is silent member by member, and one event until the last one is back', async () => {
  const run = await scored((series, step) => step < 30 || step >= (series === 'c' ? 70 : 50));
  const names = (state: string) =>
    said(run)
      .filter(([one]) => one === state)
      .map(([, series]) => series);
  assert.deepEqual([names('silent'), names('returned').sort()], [MEMBERS, MEMBERS]);
  assert.deepEqual(silences(run), [
    ['opened', null, 'g', null, ['a']],
    ['closed', null, 'g', 'returned', MEMBERS],
  ]);
  const closed = run.events().find(({ kind, type }) => kind === 'silence' && type === 'closed');
  assert.ok(stepOf(closed!.updatedAtMs) >= 70);
});

test('restarts repeat no report', async () => {
  const sends = (series: string, step: number) => step < 30 || step >= (series === 'c' ? 70 : 50);
  const undisturbed = await scored(sends);
  const disturbed = await scored(sends, { restartAt: [20, 31, 35, 36, 49, 50, 51, 60, 71] });
  const place = (run: Run) =>
    run.scores().sort((one, two) => one.input.offset - two.input.offset || (one.state < two.state ? -1 : 1));
  assert.deepEqual(place(disturbed), place(undisturbed));
  assert.deepEqual(disturbed.events(), undisturbed.events());
});

test('a member that left the group is still reported back', async () => {
  const short = [detectors[0], { ...detectors[1], settings: { ...detectors[1].settings, gapLimit: 10 } }];
  const run = await scored((series, step) => series !== 'b' || step < 30 || step >= 60, { watching: short });
  assert.deepEqual(
    said(run).map(([state, series]) => [state, series]),
    [
      ['silent', 'b'],
      ['returned', 'b'],
    ],
  );
});

test('a group that starts over after a gap is back from its silence, and its event is closed as returned', async () => {
  const run = await scored((_, step) => step < 20 || step >= 86, {
    watching: [detectors[0], { ...detectors[1], settings: { ...detectors[1].settings, gapLimit: 10 } }],
  });
  assert.ok(run.scores().some(({ series, position, restarted }) => series === 'a' && position === 0 && restarted));
  assert.deepEqual(
    silences(run).map(([type, , , closeReason]) => [type, closeReason]),
    [
      ['opened', null],
      ['closed', 'returned'],
    ],
  );
});

test('a group that catches up, far behind the others, is not silent while its records come', async () => {
  const run = streamRun({ detectors });
  const feed = (series: string, step: number, group?: string) => {
    run.broker.appendRecord(0, observationRecord(series, step, step % 5, group));
  };
  for (let step = 0; step < 120; step++) feed('other', step);
  for (let step = 0; step < 60; step++) for (const series of MEMBERS) feed(series, step, 'g');
  const worker = await run.start();
  await run.settled();
  assert.deepEqual(said(run), []);
  for (let step = 120; step < 130; step++) feed('other', step);
  await run.settled();
  await worker.stop();
  assert.deepEqual(
    said(run).map(([state, series, , , step]) => [state, series, step]),
    MEMBERS.map((series) => ['silent', series, 63]),
  );
});

test('in a partition without any record the clock reports silent members once, also after a restart', async () => {
  const stepMs = 20;
  const quick = { ...detectors[1].settings, freq: parseFrequency(`${stepMs}ms`)!, jitterMs: stepMs / 2 };
  const run = streamRun({ detectors: [detectorConfig({ group: 'group', settings: quick })] });
  const feed = (from: number, to: number, members: readonly string[]) => {
    for (let step = from; step < to; step++) {
      for (const series of members) {
        const observation = { series, group: 'g', timestamp: START_MS + stepMs * step, value: step % 5 };
        run.broker.append(0, Buffer.from('g'), Buffer.from(JSON.stringify(observation)));
      }
    }
  };
  // By event time the last one is not late yet.
  feed(0, 20, MEMBERS);
  feed(20, 23, ['a', 'b']);
  const first = await run.start();
  await until('every member is silent', () => said(run).length === MEMBERS.length, { everyMs: 20 });
  await first.stop();
  const second = await run.start();
  // Long enough for the clock to decide again, if it were to.
  await setTimeout(20 * stepMs);
  feed(30, 34, MEMBERS);
  await run.settled();
  await second.stop();
  assert.deepEqual(
    said(run).map(([state, series, , position, , cause]) => [state, series, position, cause]),
    [
      ['silent', 'a', 23, 'clock'],
      ['silent', 'b', 23, 'clock'],
      ['silent', 'c', 20, 'clock'],
      ...MEMBERS.map((series) => ['returned', series, 30, null]),
    ],
  );
  assert.deepEqual(silences(run), [
    ['opened', null, 'g', null, ['c']],
    ['closed', null, 'g', 'returned', MEMBERS],
  ]);
});
