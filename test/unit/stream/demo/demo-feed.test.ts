import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServiceError } from '../../../../src/service-error.ts';
import {
  type DemoRecord,
  feedDemo,
  HISTORY_STEPS,
  LIVE_STEP_MS,
  newestSteps,
  planFeed,
} from '../../../../src/stream/demo/demo-feed.ts';
import { DEMO_SERIES } from '../../../../src/stream/demo/demo-series.ts';
import { STEP_MS, stepAt } from '../../../../src/stream/demo/demo-time.ts';

const NOW_MS = Date.UTC(2026, 4, 1);

/** Feeds until the clock, moved by waiting alone, has gone on for `runMs`. */
async function feed({ newest = new Map<string, number>(), runMs = 3_500, failures = [] as (Error | null)[] } = {}) {
  const ending = new AbortController();
  const sent: DemoRecord[] = [];
  const waits: number[] = [];
  let nowMs = NOW_MS;
  const plan = planFeed(newest, nowMs);
  await feedDemo(plan, {
    async send(records) {
      const failure = failures.shift();
      if (failure) throw failure;
      sent.push(...records);
    },
    nowMs: () => nowMs,
    async wait(ms) {
      waits.push(ms);
      nowMs += ms;
      if (nowMs > NOW_MS + runMs) ending.abort();
    },
    signal: ending.signal,
  });
  const observations = sent.map(({ value }) => JSON.parse(value.toString()));
  return { plan, sent, waits, observations };
}

const everySeriesAt = (step: number) => new Map(DEMO_SERIES.map(({ id }) => [id, step]));

test('a new demo writes three days at once, and then a step of every series a second', async () => {
  const { plan, waits, observations } = await feed();
  assert.equal(plan.liveStart - plan.start, HISTORY_STEPS);
  assert.equal(observations.length, (HISTORY_STEPS + 3) * DEMO_SERIES.length);
  assert.deepEqual(waits, Array(4).fill(LIVE_STEP_MS));
  const times = observations.filter(({ series }) => series === 'host-1/cpu');
  assert.ok(times.every(({ timestamp }, i) => i === 0 || timestamp - times[i - 1].timestamp === STEP_MS));
});

test('the key of members is the group id, that of other series their own id', async () => {
  const { sent } = await feed({ newest: everySeriesAt(stepAt(NOW_MS) - 100) });
  for (const { key, value } of sent) {
    const { series, group } = JSON.parse(value.toString());
    assert.equal(key.toString(), group ?? series);
    assert.equal(group, series.startsWith('checkout/') ? 'checkout' : undefined);
  }
});

test('a restarted demo continues with the step after its newest one', async () => {
  const newest = stepAt(NOW_MS) - 100;
  const { observations } = await feed({ newest: everySeriesAt(newest), runMs: 1_500 });
  assert.deepEqual(new Set(observations.map(({ timestamp }) => timestamp)), new Set([(newest + 1) * STEP_MS]));
});

test('once event time has reached the clock, a step is written when it is due', async () => {
  const { waits } = await feed({ newest: everySeriesAt(stepAt(NOW_MS)), runMs: 2.5 * STEP_MS });
  assert.deepEqual(waits, [STEP_MS, STEP_MS, STEP_MS]);
});

test('while Kafka is out of reach the same step is retried', async () => {
  const away = new ServiceError('broker-unavailable', 'away', { retryable: true });
  const { observations } = await feed({ newest: everySeriesAt(1_000), failures: [away, away], runMs: 3_500 });
  assert.equal(new Set(observations.map(({ timestamp }) => timestamp)).size, 1);
});

test('an error that is not retryable ends the feed', async () => {
  const refused = new ServiceError('record-too-large', 'refused');
  await assert.rejects(feed({ newest: everySeriesAt(1_000), failures: [refused] }), refused);
});

test('other records in the topic are ignored', () => {
  const values = ['{"series":"other","timestamp":1}', 'no json', '{"series":"host-1/cpu"}', 'null', '7'];
  assert.equal(newestSteps([null, ...values.map((value) => Buffer.from(value))]).size, 0);
});
