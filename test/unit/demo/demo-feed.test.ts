import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type DemoRecord,
  demoRecords,
  HISTORY_STEPS,
  historySize,
  LIVE_STEP_MS,
  newestSteps,
  planFeed,
  writeSteps,
} from '../../../src/demo/demo-feed.ts';
import { STEP_MS, stepAt, timeOf } from '../../../src/demo/demo-plan.ts';
import { DEMO_SERIES } from '../../../src/demo/demo-series.ts';
import { sentTime } from '../../../src/demo/faults.ts';
import { ServiceError } from '../../../src/ops/service-error.ts';

const NOW_MS = Date.UTC(2026, 4, 1);

/** Feeds until the clock, moved by waiting alone, has gone on for `runMs`. */
async function feed({ newest = new Map<string, number>(), runMs = 3_500, failures = [] as (Error | null)[] } = {}) {
  const ending = new AbortController();
  const sent: DemoRecord[] = [];
  const waits: number[] = [];
  let nowMs = NOW_MS;
  const plan = planFeed(newest, nowMs);
  await writeSteps(plan, {
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
  const all = new Set(DEMO_SERIES.map(({ id }) => id));
  const wrong = observations.filter(({ timestamp }) => timestamp % STEP_MS !== 0);
  assert.equal(observations.length, historySize(plan, all) + wrong.length + 3 * DEMO_SERIES.length);
  // An outage, a series that stops, one wrong time.
  assert.equal(historySize(plan, all), HISTORY_STEPS * DEMO_SERIES.length - 24 * DEMO_SERIES.length - 24 - 1);
  assert.deepEqual(waits, Array(4).fill(LIVE_STEP_MS));
  const times = observations.filter(
    ({ series, timestamp }) => series === 'host-2/cpu' && timestamp > timeOf(plan.liveStart - 200),
  );
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

test('an outage of all series is not waited for: its steps never come', async () => {
  const { liveStart } = planFeed(new Map(), NOW_MS);
  const begin = Array.from({ length: 200 }, (_, i) => liveStart + i).find(
    (step) => sentTime('host-2/cpu', step) === null,
  )!;
  const { observations, waits } = await feed({ newest: everySeriesAt(begin - 1), runMs: 1_500 });
  assert.deepEqual(new Set(observations.map(({ timestamp }) => timestamp)), new Set([timeOf(begin + 24)]));
  assert.equal(waits.length, 2);
});

test('a wrong time does not lead a restarted demo astray, and is not sent again', async () => {
  const { liveStart } = planFeed(new Map(), NOW_MS);
  const records = demoRecords(liveStart, liveStart + 200, new Map());
  const wrong = records.findIndex(({ value }) => JSON.parse(value.toString()).timestamp % STEP_MS !== 0);
  const written = records.slice(0, wrong + 1).map(({ value }) => value);
  const { series } = JSON.parse(written.at(-1)!.toString());
  const plan = planFeed(newestSteps(written), NOW_MS);
  const [again] = demoRecords(plan.start, plan.liveStart + 1, plan.newest).filter(
    ({ value }) => JSON.parse(value.toString()).series === series,
  );
  assert.equal(JSON.parse(again.value.toString()).timestamp, timeOf(plan.newest.get(series)! + 1));
});

test('once event time has reached the clock, a step is written when it is due', async () => {
  const { waits } = await feed({ newest: everySeriesAt(stepAt(NOW_MS)), runMs: 2.5 * STEP_MS });
  assert.deepEqual(waits, [STEP_MS, STEP_MS, STEP_MS]);
});

test('while Kafka cannot be reached the same step is retried', async () => {
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
