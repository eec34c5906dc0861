import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamLog } from '../../../../src/engine/log/log.ts';
import { ServiceError } from '../../../../src/ops/service-error.ts';
import {
  detectorConfig,
  observationRecord,
  type StreamRun,
  streamRun,
  streamSettings,
} from '../../../fixture/stream/stream-run.ts';
import { virtualTest as test } from '../../../fixture/virtual-time.ts';

const detectors = [
  detectorConfig({
    group: 'group',
    settings: streamSettings({ thresholdMethod: 'multivariate', calibrationSize: 28, gapLimit: 4, grace: 1 }),
  }),
];

type Observed = readonly [series: string, step: number, value?: number];

async function scoreAll(observed: readonly Observed[], keyOf: (series: string) => string = () => 'g') {
  const run = streamRun({ detectors });
  for (const [series, step, value = (step * 7 + series.charCodeAt(0)) % 5] of observed) {
    const record = observationRecord(series, step, value, 'g');
    run.broker.append(0, Buffer.from(keyOf(series)), record.value);
  }
  await run.scoreAll();
  return run;
}

/** Both members, every step. */
const both = (from: number, to: number): Observed[] =>
  Array.from(
    { length: to - from },
    (_, i) =>
      [
        ['a', from + i],
        ['b', from + i],
      ] as const,
  ).flat();

const published = (run: Awaited<ReturnType<typeof scoreAll>>) =>
  run.scores().map(({ series, position }) => `${series}${position}`);

//  a   0 1 2        a0 and b0 wait until a2 shows that nobody else belongs to step 0
//  b   0 1
test('the first step always waits for its grace, since the members are not known yet', async () => {
  assert.deepEqual(
    published(
      await scoreAll([
        ['a', 0],
        ['b', 0],
        ['a', 1],
        ['b', 1],
      ]),
    ),
    [],
  );
  assert.deepEqual(
    published(
      await scoreAll([
        ['a', 0],
        ['b', 0],
        ['a', 1],
        ['b', 1],
        ['a', 2],
      ]),
    ),
    ['a0', 'b0', 'a1', 'b1'],
  );
});

test('a later step is scored as soon as every member has it', async () => {
  const run = await scoreAll([...both(0, 3), ['b', 3], ['a', 3]]);
  assert.deepEqual(published(run).slice(-2), ['b3', 'a3']);
});

//  a   0 1 2 3 4 5      step 3 is scored without b when a5 arrives; b3 is late then
//  b   0 1 2 . . .
test('after its grace a step is scored without the members that are missing', async () => {
  const run = await scoreAll([...both(0, 3), ['a', 3], ['a', 4], ['a', 5], ['b', 3]]);
  assert.deepEqual(published(run).slice(6), ['a3']);
  assert.deepEqual(
    run.deadLetters().map(({ reason, series }) => [reason, series]),
    [['late', 'b']],
  );
});

test('a member may have several pending steps', async () => {
  const run = await scoreAll([...both(0, 3), ['a', 3], ['a', 4], ['b', 3], ['b', 4]]);
  assert.deepEqual(published(run).slice(6), ['a3', 'a4', 'b3', 'b4']);
  assert.equal(run.deadLetters().length, 0);
});

// a 0 1 2 3 ... 14 15 16 step 15 is scored when a15 arrives: nobody waits for b any more. b15 is late, but from now on
// b 0 1 2 . . 15 16 steps wait for b again
test('a member that is missing for longer than the gap limit is not waited for until it returns', async () => {
  const alone: Observed[] = Array.from({ length: 12 }, (_, i) => ['a', 3 + i]);
  const run = await scoreAll([
    ...both(0, 3),
    ...alone,
    ['a', 15],
    ['b', 15],
    ['a', 16],
    ['b', 16],
    ['b', 17],
    ['a', 17],
  ]);
  assert.deepEqual(published(run).slice(-5), ['a15', 'a16', 'b16', 'b17', 'a17']);
  assert.deepEqual(
    run.deadLetters().map(({ reason, series }) => [reason, series]),
    [['late', 'b']],
  );
});

//  a   0 1 2 3 ... 8      b is missing since 3; step 7, the last one within the gap limit, waits out its grace
//  b   0 1 2 .            at step 8 b is missing for 5 steps: nobody waits for it any more
test('a member is waited for as long as it is missing for no more steps than the gap limit', async () => {
  const alone = (to: number): Observed[] => Array.from({ length: to - 2 }, (_, i) => ['a', 3 + i]);
  assert.deepEqual(published(await scoreAll([...both(0, 3), ...alone(8)])).slice(-1), ['a6']);
  assert.deepEqual(published(await scoreAll([...both(0, 3), ...alone(9)])).slice(-1), ['a9']);
});

//  a     1 2 3      the first step of the group is that of a1
//  b   0 1 2 3
test('a first observation from the step before the group begins is late, and no duplicate', async () => {
  const run = await scoreAll([
    ['a', 1],
    ['b', 0],
    ['a', 2],
    ['b', 1],
    ['a', 3],
    ['b', 2],
    ['b', 3],
  ]);
  assert.deepEqual(
    run.deadLetters().map(({ reason, series }) => [reason, series]),
    [['late', 'b']],
  );
  assert.deepEqual(published(run).sort(), ['a0', 'a1', 'a2', 'b0', 'b1', 'b2']);
});

test('after a gap of all members the group starts over', async () => {
  const run = await scoreAll([...both(0, 6), ...both(20, 24)]);
  const after = run.scores().filter(({ restarted }) => restarted);
  assert.deepEqual(
    after.map(({ series, position }) => [series, position]),
    [
      ['a', 0],
      ['b', 0],
    ],
  );
});

test('an anomalous step is flagged for every member that was observed in it', async () => {
  const run = await scoreAll([...both(0, 60), ['a', 60, 500], ['b', 60], ...both(61, 64)]);
  const at = run.scores().filter(({ position }) => position === 60);
  assert.deepEqual(
    at.map(({ series, anomaly, state }) => [series, anomaly, state]),
    [
      ['a', true, 'scored'],
      ['b', true, 'scored'],
    ],
  );
  assert.ok(at[0].accumulatedAnomalyScore! > 3);
  assert.equal(at[0].accumulatedAnomalyScore, at[1].accumulatedAnomalyScore);
});

test('a member whose record has another key than the group is never scored alone', async () => {
  const run = await scoreAll([...both(0, 3), ['c', 2]], (series) => (series === 'c' ? 'c' : 'g'));
  assert.deepEqual(
    run.deadLetters().map(({ reason, series }) => [reason, series]),
    [['group-split', 'c']],
  );
  assert.ok(run.scores().every(({ series }) => series !== 'c'));
});

function append({ broker }: StreamRun, partition: number, series: string, step: number): void {
  broker.appendRecord(partition, observationRecord(series, step, step, 'g'));
}

test('a member on another partition than its group is never scored alone', async () => {
  const run = streamRun({ detectors, partitions: 2 });
  for (let step = 0; step < 4; step++) append(run, 0, 'a', step);
  const worker = await run.start();
  await run.settled();
  append(run, 1, 'b', 4);
  await run.settled();
  await worker.stop();
  assert.deepEqual(
    run.deadLetters().map(({ reason, series }) => [reason, series]),
    [['group-split', 'b']],
  );
});

test('a member on another partition than its group is recognised after a restart, whichever partition is restored first', async () => {
  const run = streamRun({ detectors, partitions: 2 });
  append(run, 0, 'a', 0);
  await run.scoreAll();
  append(run, 1, 'b', 1);
  const log = run.broker.openLog();
  const restored: number[] = [];
  const { promise: otherRestored, resolve: onOtherRestored } = Promise.withResolvers<void>();
  const openPartition: StreamLog['openPartition'] = async (partition, signal) => {
    // Long enough for the other one to take its record, if it were to.
    if (partition === 0) await otherRestored.then(() => sleep(50));
    return log.openPartition(partition, signal);
  };
  const onRestored = (partition: number) => {
    restored.push(partition);
    if (partition === 1) onOtherRestored();
  };
  await run.scoreAll({ log: { ...log, openPartition } }, { restored: onRestored });
  assert.deepEqual(restored, [1, 0]);
  assert.deepEqual(
    run.deadLetters().map(({ reason, series }) => [reason, series]),
    [['group-split', 'b']],
  );
});

test('a member on another partition than its group is recognised while the partition of the group is being restored', async () => {
  const run = streamRun({ detectors, partitions: 2 });
  append(run, 0, 'a', 0);
  const log = run.broker.openLog();
  const { promise: retrying, resolve: onRetrying } = Promise.withResolvers<void>();
  let failing = false;
  const openPartition: StreamLog['openPartition'] = async (partition, signal) => {
    const session = await log.openPartition(partition, signal);
    const commit: typeof session.commit = (...records) => {
      if (!failing || partition !== 0) return session.commit(...records);
      failing = false;
      return Promise.reject(new ServiceError('broker-unavailable', 'The connection was lost', { retryable: true }));
    };
    return { ...session, commit };
  };
  const worker = await run.start({ log: { ...log, openPartition } }, { retrying: () => onRetrying() });
  await run.settled();
  failing = true;
  append(run, 0, 'a', 1);
  await retrying;
  append(run, 1, 'b', 1);
  await run.settled();
  await worker.stop();
  assert.deepEqual(
    run.deadLetters().map(({ reason, series }) => [reason, series]),
    [['group-split', 'b']],
  );
});

/** Windows so long that 14 members are all a group has room for. */
const crowded = [
  detectorConfig({
    group: 'group',
    settings: streamSettings({
      h: 64,
      detectionSize: 4_096,
      stepSize: 64,
      calibrationSize: 24_576,
      thresholdMethod: 'multivariate',
      gapLimit: 4,
    }),
  }),
];

const member = (index: number) => `m${index}`;
const members = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => member(from + i));

async function scoreCrowd(observed: readonly Observed[]) {
  const run = streamRun({ detectors: crowded });
  for (const [series, step] of observed) run.broker.appendRecord(0, observationRecord(series, step, 1, 'g'));
  await run.scoreAll();
  return run;
}

const refused = (run: Awaited<ReturnType<typeof scoreCrowd>>) =>
  run.deadLetters().map(({ reason, series }) => [reason, series]);

test('a full group refuses further members with a dead letter', async () => {
  const run = await scoreCrowd(members(0, 20).map((series) => [series, 0]));
  assert.deepEqual(
    refused(run),
    members(14, 20).map((series) => ['group-full', series]),
  );
});

test('series of pending steps count as members of a group', async () => {
  const run = await scoreCrowd([
    ...members(0, 14).map((series) => [series, 0] as const),
    ...members(14, 20).map((series) => [series, 1] as const),
  ]);
  assert.deepEqual(
    refused(run),
    members(14, 20).map((series) => ['group-full', series]),
  );
});

test('a member that a full group refuses leaves no empty pending step behind', async () => {
  const steps = [0, 1, 2].flatMap((step) => members(0, 14).map((series) => [series, step] as const));
  const run = await scoreCrowd([...steps, [member(14), 4], [member(0), 9], [member(0), 10], [member(0), 11]]);
  assert.deepEqual(refused(run), [['group-full', member(14)]]);
  assert.deepEqual(published(run).slice(-3), ['m00', 'm01', 'm02']);
});

test('an evicted group may start over on another partition', async () => {
  const run = streamRun({ detectors, partitions: 2, limits: { seriesMax: 2 } });
  const append = (partition: number, group: string) => {
    run.broker.appendRecord(partition, observationRecord('a', 0, 1, group));
  };
  const worker = await run.start();
  for (const group of ['first', 'second', 'third']) append(0, group);
  await run.settled();
  append(1, 'first');
  append(1, 'third');
  await run.settled();
  await worker.stop();
  assert.deepEqual(
    run.deadLetters().map(({ reason, input }) => [reason, input.offset]),
    [['group-split', 1]],
  );
});

test('a full group does not wait for a series whose first observation is late', async () => {
  const all = (step: number) => members(0, 14).map((series) => [series, step] as const);
  const run = await scoreCrowd([...all(0), ...all(1), ...all(2), [member(14), 0], ...all(3)]);
  assert.deepEqual(refused(run), [['late', member(14)]]);
  assert.deepEqual(published(run).slice(-1), ['m133']);
});

test('a member that left and returned is restored without its earlier windows', async () => {
  const alone = (from: number, to: number): Observed[] => Array.from({ length: to - from }, (_, i) => ['a', from + i]);
  const observed = [...both(0, 40), ...alone(40, 52), ['b', 52] as const, ...both(53, 62), ...both(62, 110)];
  const handedOverAfter = async (records: number) => {
    const run = streamRun({ detectors });
    for (const part of [observed.slice(0, records), observed.slice(records)]) {
      const worker = await run.start();
      for (const [series, step] of part) {
        run.broker.appendRecord(0, observationRecord(series, step, (step * 7 + series.charCodeAt(0)) % 5, 'g'));
      }
      await run.settled();
      await worker.stop();
    }
    return run.scores();
  };
  const expected = await handedOverAfter(0);
  assert.deepEqual(await handedOverAfter(observed.length - 96), expected);
});

//  a   0 1 2 3      step 3 waits for b, while another worker takes over
//  b   0 1 2   3
test("a member's score has the headers of its own record, also when its step waited over a restart", async () => {
  const run = streamRun({ detectors });
  const append = (series: string, step: number) => {
    const headers = [['traceparent', Buffer.from(`${series}${step}`)]] as const;
    const { value } = observationRecord(series, step, 1, 'g');
    run.broker.appendRecord(0, { key: Buffer.from('g'), value, headers, timestampMs: 0 });
  };
  for (const [series, step] of [...both(0, 3), ['a', 3] as const]) append(series, step);
  await run.scoreAll();
  append('b', 3);
  await run.scoreAll();
  const passed = run.broker.read('anomaly-scores', 0).map(({ headers }) => String(headers[0]?.[1]));
  assert.deepEqual(passed, ['a0', 'b0', 'a1', 'b1', 'a2', 'b2', 'a3', 'b3']);
});
