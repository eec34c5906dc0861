/** Counters of real senders in the stream: deltas, starts, 64 bits, and what is wrong with them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamDetectionSettings } from '../../../../src/detection/calibration/settings.ts';
import {
  detectorConfig,
  resumed,
  START_MS,
  STEP_MS,
  type StreamRun,
  streamRun,
  streamSettings,
} from '../../../fixture/stream/stream-run.ts';

interface Point {
  readonly step: number;
  readonly value: number | string;
  readonly start?: number;
  readonly temporality?: string;
}

function append({ broker }: StreamRun, points: readonly Point[]): void {
  for (const { step, value, start, temporality } of points) {
    const since = start === undefined ? {} : { start: START_MS + start * STEP_MS };
    const record = { series: 's', timestamp: START_MS + step * STEP_MS, value, ...since, temporality };
    broker.appendRecord(0, { key: Buffer.from('s'), value: Buffer.from(JSON.stringify(record)) });
  }
}

const optionsOf = (settings: Partial<StreamDetectionSettings>) => ({
  detectors: [detectorConfig({ settings: streamSettings(settings) })],
});

async function run(settings: Partial<StreamDetectionSettings>, points: readonly Point[]): Promise<StreamRun> {
  const made = streamRun(optionsOf(settings));
  append(made, points);
  await made.scoreAll();
  return made;
}

const values = (made: StreamRun) => made.scores().map(({ value }) => value);
const suspects = ({ tallies }: StreamRun) => [...new Set(tallies.flatMap(({ input }) => [...input.suspects.keys()]))];

test('deltas are increases as they are, and rates over their interval', async () => {
  const deltas = [3, 5, 2, 7].map((value, step) => ({ step, value, start: step - 1, temporality: 'delta' }));
  assert.deepEqual(values(await run({ as: 'increase' }, deltas)), [3, 5, 2, 7]);
  assert.deepEqual(values(await run({ as: 'rate' }, deltas)), [0.05, 5 / 60, 2 / 60, 7 / 60]);
  const halves = deltas.map(({ step, ...own }) => ({ ...own, step: step / 2, start: (step - 1) / 2 }));
  const last = { step: 3, value: 0, start: 2.5, temporality: 'delta' };
  assert.deepEqual(values(await run({ as: 'increase', aggregate: 'sum' }, [...halves, last])), [8, 9]);
});

test('a new start is a reset although the value rose, also over a restart of the worker', async () => {
  for (const settings of [{ as: 'increase' }, { as: 'increase', aggregate: 'sum' }] as const) {
    const made = await run(settings, [
      { step: 0, value: 130, start: -9 },
      { step: 1, value: 140, start: -9 },
      { step: 2, value: 150, start: 1.5 },
    ]);
    append(made, [
      { step: 3, value: 157, start: 1.5 },
      { step: 4, value: 157, start: 1.5 },
    ]);
    const all = values(await resumed(made, optionsOf(settings)));
    assert.deepEqual(all.slice(0, 3), [10, 150, 7]);
  }
});

test('two senders in turn have the rate of each, and are found', async () => {
  const points = Array.from({ length: 16 }, (_, i): Point => {
    return i % 2 === 0
      ? { step: i / 2, value: 1_000 + 30 * i, start: -500 }
      : { step: i / 2, value: 90_000 + 30 * i, start: -400 };
  });
  const made = await run({ as: 'rate', aggregate: 'mean' }, points);
  assert.deepEqual([...new Set(values(made))], [1]);
  assert.deepEqual(suspects(made), ['senders']);
});

test('a counter that falls in a fifth of its points is found, one that restarts is not', async () => {
  const saw = (every: number) => Array.from({ length: 40 }, (_, step) => ({ step, value: 10 + (step % every) }));
  assert.deepEqual(suspects(await run({ as: 'rate' }, saw(5))), ['resets']);
  assert.deepEqual(suspects(await run({ as: 'rate' }, saw(20))), []);
});

test('integers of 64 bits are subtracted before digits are lost', async () => {
  const points = [0n, 100n, 200n, 300n].map((more, step) => ({ step, value: String(2n ** 60n + more) }));
  assert.deepEqual(values(await run({ as: 'increase' }, points)), [100, 100, 100]);
  const steps = points.flatMap(({ step, value }) => [{ step: step / 2, value }]);
  const more = [...steps, { step: 2, value: String(2n ** 60n + 307n) }, { step: 3, value: 0 }];
  assert.deepEqual(values(await run({ as: 'increase', aggregate: 'sum' }, more)), [100, 200, 7]);
});

test('a duplicate of the first point of a counter, or an older one, is no base', async () => {
  for (const repeated of [0, 0.01, -1]) {
    const made = await run({ as: 'increase' }, [
      { step: 0, value: 1_000 },
      { step: repeated, value: 50 },
      { step: 1, value: 1_010 },
    ]);
    assert.deepEqual(values(made), [10]);
    const reasons = made.deadLetters().map(({ reason }) => reason);
    assert.deepEqual(reasons, repeated < 0 ? ['late'] : []);
    assert.deepEqual(suspects(made), repeated === 0 ? ['conflicts'] : []);
  }
});

test('two values at one time are found, the same value twice is not', async () => {
  for (const settings of [{}, { aggregate: 'mean' }, { as: 'rate' }] as const) {
    for (const [second, found] of [[5, []] as const, [6, ['conflicts']] as const]) {
      const points = [0, 1, 1, 2].map((step, i) => ({ step, value: i === 2 ? second : 5 }));
      assert.deepEqual(suspects(await run(settings, points)), found, JSON.stringify(settings));
    }
  }
});

test('start and temporality that cannot be read make a dead letter of a counter alone', async () => {
  const points = [{ step: 0, value: 1, temporality: 'gauge' }];
  const reasons = (await run({ as: 'rate' }, points)).deadLetters().map(({ reason }) => reason);
  assert.deepEqual(reasons, ['record-unreadable']);
  assert.deepEqual(values(await run({}, points)), [1]);
});
