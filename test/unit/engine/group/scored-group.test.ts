import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamLog } from '../../../../src/engine/log/log.ts';
import { ServiceError } from '../../../../src/ops/service-error.ts';
import { type Fed, groupDetector, lines, observationRecord, streamRun } from '../../../fixture/stream/stream-run.ts';
import { virtualTest as test } from '../../../fixture/virtual-time.ts';

const detectors = [groupDetector({ calibrationSize: 28, gapLimit: 4, grace: 1 })];

const observation = (series: string, step: number): Fed => [series, step, (step * 7 + series.charCodeAt(0)) % 5, 'g'];

/** Steps `from` to `to` of members, step by step. */
const stepsOf = (members: readonly string[], from: number, to: number): Fed[] =>
  Array.from({ length: to - from }, (_, i) => members.map((series) => observation(series, from + i))).flat();

const both = (from: number, to: number) => stepsOf(['a', 'b'], from, to);
/** Observations that are named by member and step. */
const named = (text: string) => text.split(' ').map((at) => observation(at[0], Number(at.slice(1))));

async function scoreAll(...parts: (string | readonly Fed[])[]) {
  const run = streamRun({ detectors });
  for (const part of parts) run.feed(typeof part === 'string' ? named(part) : part);
  await run.scoreAll();
  return run;
}

const published = (run: Awaited<ReturnType<typeof scoreAll>>) =>
  run.scores().map(({ series, position }) => `${series}${position}`);

//  a   0 1 2        a0 and b0 wait until a2 shows that nobody else belongs to step 0
//  b   0 1
test('the first step always waits for its grace, since the members are not known yet', async () => {
  assert.deepEqual(published(await scoreAll('a0 b0 a1 b1')), []);
  assert.deepEqual(published(await scoreAll('a0 b0 a1 b1 a2')), ['a0', 'b0', 'a1', 'b1']);
});

test('a later step is scored as soon as every member has it', async () => {
  const run = await scoreAll(both(0, 3), 'b3 a3');
  assert.deepEqual(published(run).slice(-2), ['b3', 'a3']);
});

//  a   0 1 2 3 4 5      step 3 is scored without b when a5 arrives; b3 is late then
//  b   0 1 2 . . .
test('after its grace a step is scored without the members that are missing', async () => {
  const run = await scoreAll(both(0, 3), 'a3 a4 a5 b3');
  assert.deepEqual(published(run).slice(6), ['a3']);
  assert.deepEqual(run.letters('series'), ['late b']);
});

test('a member may have several pending steps', async () => {
  const run = await scoreAll(both(0, 3), 'a3 a4 b3 b4');
  assert.deepEqual(published(run).slice(6), ['a3', 'a4', 'b3', 'b4']);
  assert.equal(run.deadLetters().length, 0);
});

// a 0 1 2 3 ... 14 15 16 step 15 is scored when a15 arrives: nobody waits for b any more. b15 is late, but from now on
// b 0 1 2 . . 15 16 steps wait for b again
test('a member that is missing for longer than the gap limit is not waited for until it returns', async () => {
  const run = await scoreAll(both(0, 3), stepsOf(['a'], 3, 15), 'a15 b15 a16 b16 b17 a17');
  assert.deepEqual(published(run).slice(-5), ['a15', 'a16', 'b16', 'b17', 'a17']);
  assert.deepEqual(run.letters('series'), ['late b']);
});

//  a   0 1 2 3 ... 8      b is missing since 3; step 7, the last one within the gap limit, waits out its grace
//  b   0 1 2 .            at step 8 b is missing for 5 steps: nobody waits for it any more
test('a member is waited for as long as it is missing for no more steps than the gap limit', async () => {
  assert.deepEqual(published(await scoreAll(both(0, 3), stepsOf(['a'], 3, 9))).slice(-1), ['a6']);
  assert.deepEqual(published(await scoreAll(both(0, 3), stepsOf(['a'], 3, 10))).slice(-1), ['a9']);
});

//  a     1 2 3      the first step of the group is that of a1
//  b   0 1 2 3
test('a first observation from the step before the group begins is late, and no duplicate', async () => {
  const run = await scoreAll('a1 b0 a2 b1 a3 b2 b3');
  assert.deepEqual(run.letters('series'), ['late b']);
  assert.deepEqual(published(run).sort(), ['a0', 'a1', 'a2', 'b0', 'b1', 'b2']);
});

test('after a gap of all members the group starts over', async () => {
  const run = await scoreAll(both(0, 6), both(20, 24));
  const after = run.scores().filter(({ restarted }) => restarted);
  assert.deepEqual(lines(after, 'series', 'position'), ['a 0', 'b 0']);
});

test('an anomalous step is flagged for every member that was observed in it', async () => {
  const run = await scoreAll(both(0, 60), [['a', 60, 500, 'g']], 'b60', both(61, 64));
  const at = run.scores().filter(({ position }) => position === 60);
  assert.deepEqual(lines(at, 'series', 'anomaly', 'state'), ['a true scored', 'b true scored']);
  assert.ok(at[0].accumulatedAnomalyScore! > 3);
  assert.equal(at[0].accumulatedAnomalyScore, at[1].accumulatedAnomalyScore);
});

test('a member whose record has another key than the group is never scored alone', async () => {
  const run = streamRun({ detectors });
  run.feed(both(0, 3));
  run.broker.append(0, Buffer.from('c'), observationRecord('c', 2, 1, 'g').value);
  await run.scoreAll();
  assert.deepEqual(run.letters('series'), ['group-split c']);
  assert.ok(run.scores().every(({ series }) => series !== 'c'));
});

test('a member on another partition than its group is never scored alone', async () => {
  const run = streamRun({ detectors, partitions: 2 });
  run.feed(named('a0 a1 a2 a3'));
  const worker = await run.start();
  await run.settled();
  run.feed(named('b4'), 1);
  await run.settled();
  await worker.stop();
  assert.deepEqual(run.letters('series'), ['group-split b']);
});

test('a member on another partition than its group is recognised after a restart, whichever partition is restored first', async () => {
  const run = streamRun({ detectors, partitions: 2 });
  run.feed(named('a0'));
  await run.scoreAll();
  run.feed(named('b1'), 1);
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
  assert.deepEqual(run.letters('series'), ['group-split b']);
});

test('a member on another partition than its group is recognised while the partition of the group is being restored', async () => {
  const run = streamRun({ detectors, partitions: 2 });
  run.feed(named('a0'));
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
  run.feed(named('a1'));
  await retrying;
  run.feed(named('b1'), 1);
  await run.settled();
  await worker.stop();
  assert.deepEqual(run.letters('series'), ['group-split b']);
});

/** Windows so long that 14 members are all a group has room for. */
const crowded = [groupDetector({ h: 64, detectionSize: 4_096, stepSize: 64, calibrationSize: 24_576, gapLimit: 4 })];

const members = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `m${from + i}`);
const crowd = (from: number, to: number, step: number) => stepsOf(members(from, to), step, step + 1);

async function scoreCrowd(...parts: (readonly Fed[])[]) {
  const run = streamRun({ detectors: crowded });
  run.feed(parts.flat());
  await run.scoreAll();
  return run;
}

const refused = members(14, 20).map((series) => `group-full ${series}`);

test('a full group refuses further members with a dead letter', async () => {
  assert.deepEqual((await scoreCrowd(crowd(0, 20, 0))).letters('series'), refused);
});

test('series of pending steps count as members of a group', async () => {
  assert.deepEqual((await scoreCrowd(crowd(0, 14, 0), crowd(14, 20, 1))).letters('series'), refused);
});

test('a member that a full group refuses leaves no empty pending step behind', async () => {
  const run = await scoreCrowd(stepsOf(members(0, 14), 0, 3), crowd(14, 15, 4), stepsOf(['m0'], 9, 12));
  assert.deepEqual(run.letters('series'), ['group-full m14']);
  assert.deepEqual(published(run).slice(-3), ['m00', 'm01', 'm02']);
});

test('an evicted group may start over on another partition', async () => {
  const run = streamRun({ detectors, partitions: 2, limits: { seriesMax: 2 } });
  const first = (group: string): Fed => ['a', 0, 1, group];
  const worker = await run.start();
  run.feed(['first', 'second', 'third'].map(first));
  await run.settled();
  run.feed(['first', 'third'].map(first), 1);
  await run.settled();
  await worker.stop();
  assert.deepEqual(run.letters('offset'), ['group-split 1']);
});

test('a full group does not wait for a series whose first observation is late', async () => {
  const run = await scoreCrowd(stepsOf(members(0, 14), 0, 3), crowd(14, 15, 0), crowd(0, 14, 3));
  assert.deepEqual(run.letters('series'), ['late m14']);
  assert.deepEqual(published(run).slice(-1), ['m133']);
});

test('a member that left and returned is restored without its earlier windows', async () => {
  const observed = [...both(0, 40), ...stepsOf(['a'], 40, 52), ...named('b52'), ...both(53, 110)];
  const handedOverAfter = async (records: number) => {
    const run = streamRun({ detectors });
    for (const part of [observed.slice(0, records), observed.slice(records)]) {
      run.feed(part);
      await run.scoreAll();
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
  for (const [series, step] of [...both(0, 3), ...named('a3')]) append(series, step);
  await run.scoreAll();
  append('b', 3);
  await run.scoreAll();
  const passed = run.broker.read('anomaly-scores', 0).map(({ headers }) => String(headers[0]?.[1]));
  assert.deepEqual(passed, ['a0', 'b0', 'a1', 'b1', 'a2', 'b2', 'a3', 'b3']);
});
