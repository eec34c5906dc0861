import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamDetectionSettings } from '../../../../src/detection/calibration/settings.ts';
import type { ScoreRecord } from '../../../../src/records/score-record.ts';
import { parseFrequency } from '../../../../src/time/frequency.ts';
import { bothWays, inStream, stepsWith, type TimedValue } from '../../../fixture/stream/both-ways.ts';
import {
  detectorConfig,
  lines,
  observationRecord,
  START_MS,
  STEP_MS,
  stepOf,
  streamRun,
  streamSettings,
} from '../../../fixture/stream/stream-run.ts';
import { until } from '../../../fixture/until.ts';

const detector = detectorConfig({ settings: streamSettings({ context: 300, gapLimit: 300, silenceAfter: 5 }) });

const steps = stepsWith('stops');

const said = (scores: readonly ScoreRecord[], step = ({ timestampMs }: ScoreRecord) => stepOf(timestampMs)) =>
  lines(
    scores.filter(({ state }) => state === 'silent' || state === 'returned'),
    'series',
    'state',
    'cause',
    step,
  );

test('a series that stops is reported silent exactly once, and reported when it returns', async () => {
  const observations = steps(0, 90, (step) => step < 30 || step >= 60);
  for (const { scores } of Object.values(await bothWays(observations, detector))) {
    assert.deepEqual(said(scores), ['stops silent event-time 34', 'stops returned null 60']);
    assert.equal(scores.length, observations.length + 2);
  }
});

test('a series that catches up, far behind the others, is not silent while its records come', async () => {
  const ahead = steps(0, 120, () => false);
  const behind = Array.from({ length: 120 }, (_, step): TimedValue => ['stops', step, step % 4]);
  const others = steps(120, 140);
  for (const { scores } of Object.values(await bothWays([...ahead, ...behind, ...others], detector))) {
    assert.deepEqual(said(scores), []);
  }
  const left = steps(0, 60, () => false);
  const { scores } = await inStream([...left, ...behind.slice(0, 20), ...steps(60, 80, () => false)], detector);
  assert.deepEqual(said(scores), ['stops silent event-time 24']);
});

test('a series that is late by any number of steps is not silent while its records come, and then it is', async () => {
  for (let late = 0; late <= 9; late++) {
    const observations = steps(0, 60, () => false).flatMap((other): TimedValue[] => {
      const step = other[1] - late;
      return other[0] === 'b' && step >= 0 && other[1] < 45 ? [['stops', step, step % 4], other] : [other];
    });
    const { scores } = await inStream(observations, detector);
    assert.deepEqual(said(scores), [`stops silent event-time ${44 - late + 5}`], `late by ${late}`);
  }
});

test('an outage of a whole partition silences nobody when it ends, but who does not return with the others', async () => {
  const observations = [...steps(0, 30), ...steps(54, 80, () => false)];
  for (const { scores } of Object.values(await bothWays([...observations, ...steps(80, 90)], detector))) {
    assert.deepEqual(said(scores), ['stops silent event-time 34', 'stops returned null 80']);
  }
  for (const { scores } of Object.values(await bothWays([...steps(0, 30), ...steps(54, 60)], detector))) {
    assert.deepEqual(said(scores), []);
  }
});

test('silence is found by the record that shows it, and reported before its score', async () => {
  const { scores } = await inStream(
    steps(0, 40, (step) => step < 30),
    detector,
  );
  const at = scores.findIndex(({ state }) => state === 'silent');
  assert.deepEqual([scores[at - 1].series, scores[at - 1].timestampMs], ['a', START_MS + 35 * STEP_MS]);
  assert.deepEqual([scores[at + 1].series, scores[at + 1].timestampMs], ['b', START_MS + 35 * STEP_MS]);
  assert.deepEqual([scores[at].value, scores[at].position, scores[at].input.offset], [29 % 4, 30, 3 * 29]);
});

test('a silence is an event that is opened, and closed when the series returns; an alarm before it is closed', async () => {
  const run = streamRun({ detectors: [detector] });
  const observations = steps(0, 90, (at) => at < 30 || at >= 60);
  run.feed(
    observations.map(([series, step, value]) => [series, step, series === 'stops' && step === 29 ? 900 : value]),
  );
  await run.scoreAll();
  const events = run.events().filter(({ series }) => series === 'stops');
  assert.deepEqual(lines(events.slice(0, 4), 'type', 'kind', 'closeReason'), [
    'opened spike null',
    'closed spike silent',
    'opened silence null',
    'closed silence returned',
  ]);
  const [, , opened, closed] = events;
  assert.equal(closed.eventId, opened.eventId);
  assert.deepEqual([opened.startedAtMs, closed.endedAtMs], [START_MS + 30 * STEP_MS, START_MS + 60 * STEP_MS]);
  assert.equal(closed.summary, 'Silence: no value where one was due, for 30 minutes');
});

test('one record with a wrong time silences nobody', async () => {
  const observations = [...steps(0, 30), ['a', 42, 1] as const, ...steps(30, 60)];
  const { scores } = await inStream(observations, detector);
  assert.deepEqual(said(scores), []);
});

test('a series with gaps of that length in its context is irregular: its silence is not reported', async () => {
  const { scores } = await inStream(
    steps(0, 200, (step) => step < 20 || (step < 150 && step % 10 === 0)),
    detector,
  );
  // The first gaps are news.
  assert.ok(said(scores).every((line) => Number(line.split(' ').at(-1)) < 60));
});

test('a restart neither repeats nor loses a report', async () => {
  const run = streamRun({ detectors: [detector] });
  const observations = steps(0, 90, (step) => step < 30 || step >= 60);
  for (let sent = 0; sent < observations.length; sent += 7) {
    run.feed(observations.slice(sent, sent + 7));
    await run.scoreAll();
  }
  const { scores } = await inStream(observations, detector);
  assert.deepEqual(run.scores(), scores);
});

/** Steps of 20 ms, so that the clock decides soon. */
const QUICK_MS = 20;

function quickRun(settings: Partial<StreamDetectionSettings> = {}) {
  const quick = streamSettings({ freq: parseFrequency('20ms')!, silenceAfter: 5, jitterMs: 10, ...settings });
  const run = streamRun({ detectors: [detectorConfig({ settings: quick })] });
  const append = (step: number, value: unknown = step, series = 's') => {
    const observation = { series, timestamp: START_MS + QUICK_MS * step, value };
    run.broker.append(0, Buffer.from(series), Buffer.from(JSON.stringify(observation)));
  };
  const silences = () => run.scores().filter(({ state }) => state === 'silent');
  return { run, append, silences };
}

test('records that wait for older ones are scored before the clock finds their series silent', async () => {
  const { run, append, silences } = quickRun({ latenessMs: 3 * QUICK_MS, context: 64, gapLimit: 64 });
  for (let step = 0; step < 20; step++) append(step);
  const worker = await run.start();
  await until('the series is silent', () => silences().length === 1);
  for (let step = 30; step < 40; step++) append(step);
  await until('the series is silent again', () => silences().length === 2);
  await worker.stop();
  const all = run
    .scores()
    .map(({ state, timestampMs }) => [
      state === 'silent' || state === 'returned' ? state : 'judged',
      (timestampMs - START_MS) / QUICK_MS,
    ]);
  const judged = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => ['judged', from + i]);
  assert.deepEqual(all, [...judged(0, 20), ['silent', 24], ['returned', 30], ...judged(30, 40), ['silent', 44]]);
});

test('records that are refused, or late, do not keep the clock from finding a silence', async () => {
  for (const [step, value] of [
    [30, 'n/a'],
    [3, 3],
  ] as const) {
    const { run, append, silences } = quickRun();
    for (let at = 0; at < 20; at++) append(at);
    const worker = await run.start();
    const isSilent = () => {
      append(step, value);
      return silences().length === 1;
    };
    await until('the series is silent', isSilent, { everyMs: 20 });
    await worker.stop();
  }
});

test('in a partition without any record the clock decides, once, and a restart does not decide again', async () => {
  const { run, append } = quickRun();
  for (let step = 0; step < 20; step++) append(step);
  const silent = async () => {
    while (!run.scores().some(({ state }) => state === 'silent')) await new Promise((next) => setTimeout(next, 5));
  };
  const first = await run.start();
  await silent();
  await first.stop();
  const second = await run.start();
  await new Promise((next) => setTimeout(next, 500));
  append(30);
  await run.settled();
  await second.stop();
  const quickStep = ({ timestampMs }: ScoreRecord) => (timestampMs - START_MS) / QUICK_MS;
  // On a busy machine the clock finds it silent again before the worker is stopped.
  assert.deepEqual(said(run.scores(), quickStep).slice(0, 2), ['s silent clock 24', 's returned null 30']);
  assert.equal(run.broker.committedOffset(0), 21);
});

test('series that stop are silent in every partition, once, and none of one that cannot be read', async () => {
  let nowMs = START_MS + 60 * STEP_MS;
  const run = streamRun({ detectors: [detector], partitions: 4, nowMs: () => nowMs });
  const SERIES = Array.from({ length: 20 }, (_, i) => i);
  const append = (series: number, step: number, value: unknown = step % 4) =>
    run.broker.appendRecord(series % 4, observationRecord(`s${series}`, step, value));
  for (let step = 0; step < 30; step++) for (const series of SERIES) append(series, step);
  let worker = await run.start();
  await run.settled();
  run.broker.setReadable(3, false);
  const silent = () =>
    [0, 1, 2, 3].flatMap((partition) => run.scores(partition)).filter((row) => row.state === 'silent');
  let step = 30;
  const goOn = () => {
    nowMs += STEP_MS;
    // Three go on; others have no value, and let their partitions look at the clock.
    for (const series of [0, 4, 8]) append(series, step);
    for (const series of [1, 2]) append(series, 29, 'n/a');
    for (const series of SERIES) if (series % 4 === 3) append(series, step);
    step++;
    return silent().length >= 12;
  };
  await until('all that stopped are silent', goOn, { everyMs: 250 });
  await worker.stop();
  worker = await run.start();
  run.broker.setReadable(3, true);
  for (let times = 0; times < 8; times++) {
    goOn();
    await run.settled();
  }
  await worker.stop();
  const expected = SERIES.filter((i) => i % 4 !== 3 && ![0, 4, 8].includes(i)).map((i) => `s${i} 34`);
  assert.deepEqual(lines(silent(), 'series', ({ timestampMs }) => stepOf(timestampMs)).sort(), expected.sort());
  assert.equal(new Set(silent().map(({ cause }) => cause)).size, 2);
});
