import assert from 'node:assert/strict';
import {
  detectorConfig,
  groupDetector,
  lines,
  observationRecord,
  START_MS,
  STEP_MS,
  streamConfig,
  streamRun,
  TOPICS,
} from '../../../fixture/stream/stream-run.ts';
import { virtualTest as test } from '../../../fixture/virtual-time.ts';

const detectors = [groupDetector({ calibrationSize: 28 }, { name: 'grouped', series: ['m*'] }), detectorConfig()];
const route = { topic: 'rekeyed', partitions: 3, partitionOf: (key: Buffer) => key[0] % 3 };

function carried(run: ReturnType<typeof streamRun>) {
  return [0, 1, 2].flatMap((partition) =>
    run.broker.read(route.topic, partition).map(({ key, value, timestampMs }) => ({
      partition,
      key: key?.toString() ?? null,
      value: value?.toString() ?? null,
      timestampMs,
    })),
  );
}

test('records get the key of their series or group, exactly once, whatever happens to the commits', async () => {
  const run = streamRun({ detectors, limits: { commitRecordsMax: 7 } });
  const sent = [];
  let worker = await run.start({ route });
  for (let step = 0; step < 60; step++) {
    const series = ['a', 'b', 'm1'][step % 3];
    const { value } = observationRecord(series, step, step, series === 'm1' ? 'g' : undefined);
    run.broker.append(0, step % 2 === 0 ? null : Buffer.from('other'), value, 1_000 + step);
    sent.push({ key: series === 'm1' ? 'g' : series, value: value.toString(), timestampMs: 1_000 + step });
    if (step % 20 === 5) run.broker.failNextCommit('before');
    if (step % 20 === 9) run.broker.failNextCommit('after');
    if (step % 20 === 15) {
      await worker.stop();
      worker = await run.start({ route });
    }
    await new Promise((resolve) => setTimeout(resolve, step % 3));
  }
  await run.settled();
  await worker.stop();
  const expected = sent.map((one) => ({ partition: one.key.charCodeAt(0) % 3, ...one }));
  const byTime = (a: { timestampMs: number }, b: { timestampMs: number }) => a.timestampMs - b.timestampMs;
  assert.deepEqual(carried(run).sort(byTime), expected);
  assert.deepEqual(run.scores(), []);
});

test('records whose series cannot be read keep their keys, and tombstones are counted alone', async () => {
  const run = streamRun({ detectors });
  run.broker.append(0, Buffer.from('k'), Buffer.from('{'));
  run.broker.append(0, null, null);
  await run.scoreAll({ route });
  assert.deepEqual(lines(carried(run), 'key', 'value'), ['k {']);
  assert.equal(run.tallies[0]?.withoutValue, 1);
  assert.deepEqual(run.broker.read(TOPICS.deadLetters, 0), []);
});

test('records of many points become one for each, exactly once, whatever happens to the commits', async () => {
  const run = streamRun({ detectors, limits: { commitRecordsMax: 5 } });
  const stream = streamConfig(detectors);
  const options = {
    route,
    stream: { ...stream, input: { ...stream.input, format: 'influx', timeUnit: 'ms' } },
  } as const;
  const expected: string[] = [];
  let worker = await run.start(options);
  for (let step = 0; step < 40; step++) {
    const timestamp = START_MS + step * STEP_MS;
    const points = ['a', 'b', 'c'].map((name, i) => `${name} value=${step + i} ${timestamp}`);
    run.broker.append(0, null, Buffer.from([...points, ...(step === 7 ? ['nonsense'] : [])].join('\n')), 1_000 + step);
    for (const [i, series] of ['a', 'b', 'c'].entries()) {
      expected.push(JSON.stringify({ series, timestamp, value: step + i }));
    }
    if (step % 10 === 3) run.broker.failNextCommit('before');
    if (step % 10 === 5) run.broker.failNextCommit('after');
    if (step % 10 === 8) {
      await worker.stop();
      worker = await run.start(options);
    }
    await new Promise((resolve) => setTimeout(resolve, step % 3));
  }
  run.broker.append(0, null, Buffer.from('\u0000'), 2_000);
  run.broker.append(0, null, null, 2_001);
  await run.settled();
  await worker.stop();
  const all = carried(run);
  assert.deepEqual(all.map(({ value }) => value).sort(), expected.sort());
  assert.ok(all.every(({ key, partition }) => partition === key!.charCodeAt(0) % 3));
  assert.deepEqual(run.letters('offset'), ['points-refused 7', 'points-refused 40']);
  assert.equal(run.total('withoutValue'), 1);
});
