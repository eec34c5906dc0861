import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  detectorConfig,
  LIMITS,
  lines,
  observationRecord,
  type StreamRunOptions,
  streamConfig,
  streamRun,
  streamSettings,
} from '../../../fixture/stream/stream-run.ts';

interface Sent {
  readonly partition: number;
  readonly series: string;
  readonly key: string | null;
}

/** What a worker says of series, record by record in one commit each, and the places of their scores. */
async function said(sent: readonly Sent[], options: StreamRunOptions & { readonly keyedBy?: 'other' } = {}) {
  const { keyedBy, ...rest } = options;
  const run = streamRun({ partitions: 2, limits: { ...LIMITS, commitRecordsMax: 1 }, ...rest });
  const stream = streamConfig([detectorConfig()]);
  const input = { ...stream.input, ...(keyedBy && { keyedBy }) };
  const worker = await run.start(keyedBy === undefined ? {} : { stream: { ...stream, input } });
  for (const [step, { partition, series, key }] of sent.entries()) {
    run.broker.append(partition, key === null ? null : Buffer.from(key), observationRecord(series, step, 1).value);
    await run.settled();
  }
  await worker.stop();
  assert.equal(run.scores(0).length + run.scores(1).length, sent.length, 'all of them are scored');
  return run.tallies.flatMap(({ misplaced }) => lines(misplaced, 'series', 'reason'));
}

test('a series without a key, or with another one, is reported once', async () => {
  const records = ['a', 'a', 'b', 'c', 'b', 'c', 'c'].map((series) => {
    const key = { a: 'a', b: 'host', c: null }[series] ?? null;
    return { partition: 0, series, key };
  });
  assert.deepEqual(await said(records), ['b other-key', 'c null-key']);
  assert.deepEqual(await said(records, { keyedBy: 'other' }), ['c null-key']);
});

test('a series in two partitions of a worker is reported once, also where all of its records have its key', async () => {
  const records = [0, 0, 1, 1, 0].map((partition) => ({ partition, series: 'a', key: 'a' }));
  assert.deepEqual(await said(records), ['a two-partitions']);
  assert.deepEqual(await said(records, { keyedBy: 'other' }), ['a two-partitions']);
});

test('a series whose keys change is found in at least one of its partitions', async () => {
  const records = [
    { partition: 0, series: 'a', key: 'a' },
    { partition: 0, series: 'a', key: null },
  ];
  assert.deepEqual(await said(records), []);
  // The other half of its records without a key, as the owner of the other partition sees it.
  assert.deepEqual(await said([{ partition: 1, series: 'a', key: null }]), ['a null-key']);
});

test('a series that was forgotten may continue in another partition', async () => {
  const idle = detectorConfig({ settings: streamSettings({ idleMs: 60_000 * 20 }) });
  const run = streamRun({ partitions: 2, detectors: [idle] });
  const worker = await run.start();
  run.feed([['moves', 0, 1]]);
  for (let step = 0; step < 40; step++) run.feed(['x', 'y'].map((series) => [series, step, 1]));
  await run.settled();
  run.feed([['moves', 40, 1]], 1);
  await run.settled();
  await worker.stop();
  const actual = run.tallies.flatMap(({ misplaced }) => misplaced);
  assert.deepEqual(actual, []);
});
