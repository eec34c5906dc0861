import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PartitionSession } from '../../../../src/engine/log/log.ts';
import { ServiceError } from '../../../../src/ops/service-error.ts';
import { Poller } from '../../../../src/pipelines/poll/poller.ts';

const MIN = 60_000;
const SOURCE = {
  name: 'a',
  url: 'http://prometheus:9090',
  query: 'a',
  stepMs: MIN,
  delayMs: 0,
  historyMs: 3 * MIN,
  headers: {},
};
const NOTHING = { series: [], missing: 0, refused: 0, reasons: [] };
const REFUSED = new ServiceError('broker-unavailable', 'Kafka refuses', { retryable: true });

/** A poller of an hour whose commits are refused for some time before each succeeds, and what it says meanwhile. */
async function polled(refusedMs: number) {
  let nowMs = 60 * MIN;
  const stop = new AbortController();
  const said: (string | null)[] = [];
  const ready: boolean[] = [];
  const poller = new Poller({
    sources: [SOURCE],
    log: {
      openPartition: async (_partition, _signal, onFailure) => {
        const session: Partial<PartitionSession> = {
          committedOffset: null,
          readChangelog: async () => {},
          close: async () => {},
          async commit() {
            for (let ms = 0; ms < refusedMs; ms += 100) {
              onFailure?.(REFUSED);
              ready.push(poller.reasonsNotReady().length === 0);
              nowMs += 100;
            }
          },
        };
        return session as PartitionSession;
      },
    },
    positionsTopic: 'positions',
    inputTopic: 'input',
    partitioner: async () => () => 0,
    recordsOf: () => () => ({ records: [], unwatched: 0, refused: 0, reasons: [] }),
    nowMs: () => nowMs,
    async wait(ms) {
      ready.push(poller.reasonsNotReady().length === 0);
      nowMs += ms;
      if (nowMs > 70 * MIN) stop.abort();
    },
    reports: {
      written() {},
      behind() {},
      failed() {},
      annotated() {},
      takenPartial() {},
      log: (error) => void said.push(error?.message ?? null),
    },
    rangesOf: () => async () => ({ kind: 'answered', points: NOTHING, partial: null, annotations: [] }),
  });
  await poller.run(stop.signal);
  return { said, ready };
}

test('a commit that Kafka takes at a second attempt does not leave the poller not ready for ever', async () => {
  const { said, ready } = await polled(200);
  assert.deepEqual(said, [null]);
  assert.ok(ready.every(Boolean));
});

test('commits that are refused for long make the poller not ready, and it is ready again after one', async () => {
  const { said, ready } = await polled(20_000);
  assert.deepEqual(said.slice(0, 3), [null, 'Kafka refuses', null]);
  assert.ok(ready.includes(false));
  assert.equal(ready.at(-1), true);
});

test('points of several sources are written in the order of their event times', async () => {
  const names = ['a', 'b', 'c'];
  const sources = names.map((name, i) => ({
    ...SOURCE,
    name,
    query: name,
    stepMs: (i + 1) * MIN,
    historyMs: 3_000 * MIN,
  }));
  const stop = new AbortController();
  const written: number[] = [];
  const newestMs = new Map<string, number>();
  let nowMs = 5_000 * MIN;
  const poller = new Poller({
    sources,
    log: {
      openPartition: async () => {
        const session: Partial<PartitionSession> = {
          committedOffset: null,
          readChangelog: async () => {},
          close: async () => {},
          async commit(outputs) {
            for (const { topic, key, value } of outputs) {
              if (topic === 'input') written.push(Number(String(value)));
              else newestMs.set(String(key), JSON.parse(String(value)).nextMs);
            }
          },
        };
        return session as PartitionSession;
      },
    },
    positionsTopic: 'positions',
    inputTopic: 'input',
    partitioner: async () => () => 0,
    recordsOf: () => (points) => {
      const records = points.series.flatMap(({ timestampsMs }) =>
        timestampsMs.map((ms) => ({ key: Buffer.from('k'), value: Buffer.from(String(ms)) })),
      );
      return { records, unwatched: 0, refused: 0, reasons: [] };
    },
    nowMs: () => nowMs,
    async wait(ms) {
      nowMs += ms;
      if (nowMs > 5_020 * MIN) stop.abort();
    },
    reports: { written() {}, behind() {}, failed() {}, takenPartial() {}, log() {}, annotated() {} },
    rangesOf: () => async (request) => {
      const timestampsMs: number[] = [];
      for (let ms = request.fromMs; ms <= request.toMs; ms += request.stepMs) timestampsMs.push(ms);
      const series = [
        { id: request.name, name: request.name, labels: [], timestampsMs, values: timestampsMs.map(() => 1) },
      ];
      return { kind: 'answered', points: { ...NOTHING, series }, partial: null, annotations: [] };
    },
  });
  await poller.run(stop.signal);
  assert.ok(written.length > 3_000 + 1_500 + 1_000);
  let newest = 0;
  for (const ms of written) {
    assert.ok(ms > newest - 3 * MIN, 'none is a step behind what was written');
    newest = Math.max(newest, ms);
  }
  assert.equal(newestMs.size, 3);
});
