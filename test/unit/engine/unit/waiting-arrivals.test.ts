import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamDetectionSettings } from '../../../../src/detection/calibration/settings.ts';
import type { ReceivedObservation } from '../../../../src/engine/unit/received-observation.ts';
import { type ArrivalOwner, WaitingArrivals } from '../../../../src/engine/unit/waiting-arrivals.ts';
import { recordMapping } from '../../../fixture/stream/record-mapping.ts';
import {
  detectorConfig,
  START_MS,
  STEP_MS,
  type StreamRun,
  streamConfig,
  streamRun,
  streamSettings,
} from '../../../fixture/stream/stream-run.ts';

function arrival(timestampMs: number, bytes = 10): ReceivedObservation {
  const record = { partition: 0, offset: timestampMs, timestampMs, key: null, value: Buffer.alloc(bytes) };
  return { series: 's', group: null, timestampMs, value: 1, record };
}

const timesOf = (arrivals: readonly ReceivedObservation[]) => arrivals.map(({ timestampMs }) => timestampMs);

test('sixteen records wait for confirmation, each of at most 8 KiB', () => {
  const waiting = new WaitingArrivals();
  assert.ok(!waiting.awaitConfirmation(arrival(0, 8_193)));
  const held = Array.from({ length: 16 }, (_, i) => arrival(i, 8_192));
  assert.ok(held.every((one) => waiting.awaitConfirmation(one)));
  assert.ok(!waiting.awaitConfirmation(arrival(16)));
  waiting.decided(held[3]);
  assert.equal(waiting.unconfirmed.length, 15);
  assert.ok(waiting.awaitConfirmation(arrival(17)));
});

test('records leave in the order of their times, once nothing older is waited for', () => {
  const waiting = new WaitingArrivals();
  assert.deepEqual(timesOf(waiting.reorder(arrival(30), 10)), []);
  assert.deepEqual(timesOf(waiting.reorder(arrival(20), 10)), []);
  assert.deepEqual(timesOf(waiting.reorder(arrival(40), 25)), [20]);
  assert.deepEqual(timesOf(waiting.drainOutOfOrder()), [30, 40]);
  assert.deepEqual(waiting.outOfOrder, []);
});

test('of more than 128 records, or 128 KiB, the oldest need not wait', () => {
  const waiting = new WaitingArrivals();
  for (let at = 0; at < 128; at++) assert.deepEqual(waiting.reorder(arrival(at), -1), []);
  assert.deepEqual(timesOf(waiting.reorder(arrival(128), -1)), [0]);
  const large = new WaitingArrivals();
  assert.deepEqual(large.reorder(arrival(0, 100_000), -1), []);
  assert.deepEqual(timesOf(large.reorder(arrival(1, 100_000), -1)), [0]);
});

test('what waits for a backfill that is made at once waits for forecasts', () => {
  const waiting = new WaitingArrivals();
  waiting.awaitBackfill();
  waiting.queue(arrival(1));
  waiting.queue(arrival(2));
  waiting.endBackfillAtOnce();
  assert.deepEqual([waiting.forBackfill, waiting.awaitsForecast], [null, true]);
  assert.deepEqual(timesOf(waiting.endForecast()), [1, 2]);
  assert.equal(waiting.awaitsForecast, false);
});

test('another unit takes over what is part of the state, as a copy of its own', () => {
  const [old, taken] = [new WaitingArrivals(), new WaitingArrivals()];
  old.awaitConfirmation(arrival(1));
  old.awaitBackfill();
  old.queue(arrival(2));
  old.awaitForecast(arrival(3));
  taken.inherit(old);
  old.queue(arrival(4));
  assert.deepEqual(timesOf(taken.all), [2, 1]);
  assert.equal(taken.awaitsForecast, false);
});

test('a unit holds nothing where nothing waits any more, and where nothing waited in what was kept', () => {
  const owner: ArrivalOwner = { steps: null, heldArrivals: null };
  const waiting = new WaitingArrivals(owner);
  waiting.resume(waiting, { group: null, partition: 0 });
  assert.equal(owner.heldArrivals, null);
  waiting.awaitForecast(arrival(1));
  waiting.reorder(arrival(2), 1);
  assert.notEqual(owner.heldArrivals, null);
  waiting.drainOutOfOrder();
  assert.deepEqual(timesOf(waiting.endForecast()), [1]);
  assert.equal(owner.heldArrivals, null);
});

interface Sent {
  readonly replica: string;
  readonly ms: number;
  readonly value: number;
}

/** A counter that rises by 100 a second, scraped every 15 s by a, and 240 ms later by b; answers take 20 to 300 ms. */
function scrapes(from: number, to: number, absent: (replica: string, scrape: number) => boolean): Sent[] {
  return Array.from({ length: to - from }, (_, i) => from + i).flatMap((scrape) =>
    [0, 240].flatMap((offset): Sent[] => {
      const replica = offset === 0 ? 'a' : 'b';
      if (absent(replica, scrape)) return [];
      const ms = scrape * 15_000 + offset;
      // At times the later scrape is answered first.
      const delayMs = scrape % 20 === 7 ? (offset === 0 ? 300 : 20) : 20 + ((scrape * 7_919 + offset) % 281);
      const answeredMs = ms + delayMs;
      return [{ replica, ms, value: answeredMs / 10 }];
    }),
  );
}

const STEPS = 60;
/** Scrapes a step. */
const SCRAPES = STEP_MS / 15_000;

/** Values by step, of records that one worker scores, or several one after the other. */
async function ratesOf(
  sent: readonly Sent[],
  {
    settings = {},
    workers = 1,
    ...input
  }: {
    settings?: Partial<StreamDetectionSettings>;
    workers?: number;
    replicaLabel?: string;
    dropLabels?: string[];
  },
): Promise<{ readonly values: readonly number[]; readonly diagnostics: readonly string[]; readonly run: StreamRun }> {
  const detectors = [detectorConfig({ settings: streamSettings({ as: 'rate', aggregate: 'mean', ...settings }) })];
  const stream = { ...streamConfig(detectors), input: recordMapping({ futureMsMax: STEP_MS, ...input }) };
  let run = streamRun({ detectors });
  for (let part = 0; part < workers; part++) {
    for (const { replica, ms, value } of sent.slice(
      (part * sent.length) / workers,
      ((part + 1) * sent.length) / workers,
    )) {
      const record = { series: `s{replica="${replica}"}`, timestamp: START_MS + ms, value };
      run.broker.appendRecord(0, { key: Buffer.from('s'), value: Buffer.from(JSON.stringify(record)) });
    }
    run = streamRun({ detectors, broker: run.broker });
    await run.scoreAll({ stream });
  }
  const diagnostics = run.tallies.flatMap(({ input: { suspects } }) => [...suspects.keys()]);
  return { values: run.scores().map(({ value }) => value), diagnostics, run };
}

const worst = (values: readonly number[]) => Math.max(...values.map((value) => Math.abs(value - 100)));

test('one replica counts at a time: no rate is that of the moment between two of them', async () => {
  const sent = scrapes(0, STEPS * SCRAPES, () => false);
  const mixed = await ratesOf(sent, { dropLabels: ['replica'] });
  assert.ok(worst(mixed.values) > 100, 'both together are not what is shown');
  const { values, diagnostics, run } = await ratesOf(sent, { replicaLabel: 'replica' });
  assert.equal(values.length, STEPS - 1);
  assert.ok(worst(values) <= 1, `${worst(values)}`);
  assert.deepEqual(diagnostics, []);
  assert.deepEqual(run.deadLetters(), []);
});

test('the other replica counts while one is away, and continues when it returns', async () => {
  const isAway = (replica: string, scrape: number) => replica === 'a' && scrape >= 60 && scrape < 120;
  const sent = scrapes(0, STEPS * SCRAPES, isAway);
  const { values } = await ratesOf(sent, { replicaLabel: 'replica' });
  assert.equal(values.length, STEPS - 1);
  assert.ok(worst(values) <= 1, `${worst(values)}`);
});

test('workers that take over continue with the replica that counts', async () => {
  const sent = scrapes(0, STEPS * SCRAPES, (replica, scrape) => replica === 'b' && scrape % 17 === 0);
  const whole = await ratesOf(sent, { replicaLabel: 'replica' });
  const parts = await ratesOf(sent, { replicaLabel: 'replica', workers: 6 });
  assert.deepEqual(parts.values, whole.values);
});

const PLAIN = { as: undefined, aggregate: undefined } as unknown as Partial<StreamDetectionSettings>;

test('gauges have the values of one replica, and no duplicates are found', async () => {
  const sent = scrapes(0, STEPS * SCRAPES, () => false).filter(({ ms }) => ms % STEP_MS < 1_000);
  const ofA = sent.filter(({ replica }) => replica === 'a').map(({ value }) => value);
  const { values, diagnostics, run } = await ratesOf(sent, { replicaLabel: 'replica', settings: PLAIN });
  assert.deepEqual(values, ofA);
  assert.deepEqual(diagnostics, []);
  const duplicates = run.tallies.reduce((sum, tally) => sum + tally.duplicates, 0);
  assert.equal(duplicates, ofA.length);
});
