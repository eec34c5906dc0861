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

type Options = ConstructorParameters<typeof Poller>[0];
type Outputs = Parameters<PartitionSession['commit']>[0];

/** A poller whose one partition commits so. Its clock moves by waiting alone. */
function pollerOf(
  clock: { nowMs: number },
  commit: (outputs: Outputs, onFailure?: (error: Error) => void) => Promise<void>,
  more: Pick<Options, 'sources' | 'recordsOf' | 'rangesOf' | 'wait'> & { readonly log?: Options['reports']['log'] },
): Poller {
  const { log = () => {}, ...options } = more;
  return new Poller({
    ...options,
    log: {
      openPartition: async (_partition, _signal, onFailure) => {
        const session: Partial<PartitionSession> = {
          committedOffset: null,
          readChangelog: async () => {},
          close: async () => {},
          commit: (outputs) => commit(outputs, onFailure),
        };
        return session as PartitionSession;
      },
    },
    positionsTopic: 'positions',
    inputTopic: 'input',
    partitioner: async () => () => 0,
    nowMs: () => clock.nowMs,
    reports: { written() {}, behind() {}, failed() {}, annotated() {}, acceptedPartial() {}, log },
  });
}

/** A poller of an hour whose commits are refused for some time before each succeeds, and what it reports meanwhile. */
async function polled(refusedMs: number) {
  const clock = { nowMs: 60 * MIN };
  const stop = new AbortController();
  const said: (string | null)[] = [];
  const ready: boolean[] = [];
  const commit = async (_: Outputs, onFailure?: (error: Error) => void) => {
    for (let ms = 0; ms < refusedMs; ms += 100) {
      onFailure?.(REFUSED);
      ready.push(poller.reasonsNotReady().length === 0);
      clock.nowMs += 100;
    }
  };
  const poller = pollerOf(clock, commit, {
    sources: [SOURCE],
    recordsOf: () => () => ({ records: [], unwatched: 0, refused: 0, reasons: [] }),
    async wait(ms) {
      ready.push(poller.reasonsNotReady().length === 0);
      clock.nowMs += ms;
      if (clock.nowMs > 70 * MIN) stop.abort();
    },
    log: (error) => void said.push(error?.message ?? null),
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
  const sources = ['a', 'b', 'c'].map((name, i) => {
    return { ...SOURCE, name, query: name, stepMs: (i + 1) * MIN, historyMs: 3_000 * MIN };
  });
  const stop = new AbortController();
  const written: number[] = [];
  const polledSources = new Set<string>();
  const clock = { nowMs: 5_000 * MIN };
  const commit = async (outputs: Outputs) => {
    for (const { topic, key, value } of outputs) {
      if (topic === 'input') written.push(Number(String(value)));
      else polledSources.add(String(key));
    }
  };
  const poller = pollerOf(clock, commit, {
    sources,
    recordsOf: () => (points) => {
      const records = points.series.flatMap(({ timestampsMs }) =>
        timestampsMs.map((ms) => ({ key: Buffer.from('k'), value: Buffer.from(String(ms)) })),
      );
      return { records, unwatched: 0, refused: 0, reasons: [] };
    },
    async wait(ms) {
      clock.nowMs += ms;
      if (clock.nowMs > 5_020 * MIN) stop.abort();
    },
    rangesOf:
      () =>
      async ({ name, fromMs, toMs, stepMs }) => {
        const timestampsMs: number[] = [];
        for (let ms = fromMs; ms <= toMs; ms += stepMs) timestampsMs.push(ms);
        const series = [{ id: name, name, labels: [], timestampsMs, values: timestampsMs.map(() => 1) }];
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
  assert.equal(polledSources.size, 3);
});
