import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { ScoreRecord } from '../../../../src/records/score-record.ts';
import { parseFrequency } from '../../../../src/time/frequency.ts';
import {
  detectorConfig,
  lines,
  START_MS,
  stepOf,
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

/** 90 steps, of which `sends` says which member sends one; another series always does. A worker ends after some. */
async function scored(
  sends: (series: string, step: number) => boolean,
  watching = detectors,
  endsAfter: readonly number[] = [],
) {
  const run = streamRun({ detectors: watching });
  for (let step = 0; step < 90; step++) {
    const there = MEMBERS.filter((one) => sends(one, step));
    run.feed(there.map((series) => [series, step, (step * 7 + series.charCodeAt(0)) % 5, 'g']));
    run.feed([['other', step, step % 3]]);
    if (endsAfter.includes(step)) await run.scoreAll();
  }
  await run.scoreAll();
  return run;
}

type Run = Awaited<ReturnType<typeof scored>>;

const said = (run: Run, ...fields: Parameters<typeof lines<ScoreRecord>>[1][]) =>
  lines(
    run.scores().filter(({ state }) => state === 'silent' || state === 'returned'),
    'state',
    'series',
    ...fields,
  );
const step = ({ timestampMs }: ScoreRecord) => stepOf(timestampMs);
const silences = (run: Run) =>
  lines(
    run.events().filter(({ kind }) => kind === 'silence'),
    'type',
    'series',
    'group',
    'closeReason',
    ({ members }) => members.map((one) => one.series),
  );

test('a member that stops is reported silent once, and back once; it is an event of its group', async () => {
  const run = await scored((series, step) => series !== 'b' || step < 30 || step >= 50);
  const rows = said(run, 'group', 'position', step, 'cause');
  assert.deepEqual(rows, ['silent b g 30 33 event-time', 'returned b g 50 50 null']);
  assert.deepEqual(silences(run), ['opened null g null b', 'closed null g returned b']);
  const silent = run.scores().find(({ state }) => state === 'silent');
  const last = run.scores().find(({ series, position }) => series === 'b' && position === 29);
  assert.deepEqual([silent?.value, silent?.input], [last?.value, last?.input]);
});

test('a group that stops is silent member by member, and one event until the last one is back', async () => {
  const run = await scored((series, step) => step < 30 || step >= (series === 'c' ? 70 : 50));
  const names = (state: string) => said(run).flatMap((line) => (line.startsWith(state) ? line.at(-1) : []));
  assert.deepEqual([names('silent'), names('returned').sort()], [MEMBERS, MEMBERS]);
  assert.deepEqual(silences(run), ['opened null g null a', 'closed null g returned a,b,c']);
  const closed = run.events().find(({ kind, type }) => kind === 'silence' && type === 'closed');
  assert.ok(stepOf(closed!.updatedAtMs) >= 70);
});

test('restarts repeat no report', async () => {
  const sends = (series: string, step: number) => step < 30 || step >= (series === 'c' ? 70 : 50);
  const undisturbed = await scored(sends);
  const disturbed = await scored(sends, detectors, [20, 31, 35, 36, 49, 50, 51, 60, 71]);
  const place = (run: Run) =>
    run.scores().sort((one, two) => one.input.offset - two.input.offset || (one.state < two.state ? -1 : 1));
  assert.deepEqual(place(disturbed), place(undisturbed));
  assert.deepEqual(disturbed.events(), undisturbed.events());
});

test('a member that left the group is still reported back', async () => {
  const short = [detectors[0], { ...detectors[1], settings: { ...detectors[1].settings, gapLimit: 10 } }];
  const run = await scored((series, step) => series !== 'b' || step < 30 || step >= 60, short);
  assert.deepEqual(said(run), ['silent b', 'returned b']);
});

test('a group that starts over after a gap is back from its silence, and its event is closed as returned', async () => {
  const run = await scored(
    (_, step) => step < 20 || step >= 86,
    [detectors[0], { ...detectors[1], settings: { ...detectors[1].settings, gapLimit: 10 } }],
  );
  assert.ok(run.scores().some(({ series, position, restarted }) => series === 'a' && position === 0 && restarted));
  const ends = run.events().filter(({ kind }) => kind === 'silence');
  assert.deepEqual(lines(ends, 'type', 'closeReason'), ['opened null', 'closed returned']);
});

test('a group that catches up, far behind the others, is not silent while its records come', async () => {
  const run = streamRun({ detectors });
  const steps = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
  run.feed(steps(0, 120).map((at) => ['other', at, at % 5]));
  run.feed(steps(0, 60).flatMap((at) => MEMBERS.map((series) => [series, at, at % 5, 'g'] as const)));
  const worker = await run.start();
  await run.settled();
  assert.deepEqual(said(run), []);
  run.feed(steps(120, 130).map((at) => ['other', at, at % 5]));
  await run.settled();
  await worker.stop();
  assert.deepEqual(said(run, step), ['silent a 63', 'silent b 63', 'silent c 63']);
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
  const silent = ['silent a 23 clock', 'silent b 23 clock', 'silent c 20 clock'];
  const expected = [...silent, ...MEMBERS.map((series) => `returned ${series} 30 null`)];
  // On a busy machine the clock finds them silent again before the worker is stopped.
  assert.deepEqual(said(run, 'position', 'cause').slice(0, expected.length), expected);
  assert.deepEqual(silences(run).slice(0, 2), ['opened null g null c', 'closed null g returned a,b,c']);
});
