/**
 * The contract of Forecaster, on every implementation: the arithmetic of the tests, a tiny graph, and each pretrained
 * model.
 */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { ForecastBatch, Forecaster } from '../../src/forecasting/forecaster.ts';
import { type Model, openCatalog } from '../../src/models/catalog.ts';
import { Forecasters } from '../../src/models/onnx-forecaster.ts';
import { freshFolder } from '../fixture/fresh-folder.ts';
import { arithmeticForecaster } from '../fixture/models/arithmetic-forecaster.ts';
import { writeModel } from '../fixture/models/model-folder.ts';

interface Implementation {
  readonly name: string;
  readonly forecaster: Forecaster;
  /** Whether forecasts are equivariant to shifts and scales of the context; models are. */
  readonly isEquivariant: boolean;
  /** Largest difference between forecasts of equivalent contexts, in standard deviations of the context. */
  readonly tolerance: number;
}

const dir = freshFolder();
const pretrained = await openCatalog({ modelsDir: null });
const models: Model[] = [await writeModel(dir, 'mean'), ...pretrained.names.map(pretrained.get)];
const forecasters = await Forecasters.start(models, { threads: 2 });
after(async () => {
  await forecasters.close();
});

const implementations: Implementation[] = [
  { name: 'arithmetic', forecaster: arithmeticForecaster(), isEquivariant: false, tolerance: 0 },
  ...models.map(({ name }) => ({
    name: `model ${name}`,
    forecaster: forecasters.forecasterFor(name, 1),
    isEquivariant: true,
    // Products are of eight-bit integers: a tiny difference may round to the next integer.
    tolerance: 0.05,
  })),
];

type Context = (position: number) => number;

/** A daily wave with deterministic noise; its standard deviation is about 1. */
function wave(seed: number): Context {
  return (position) =>
    1.3 * Math.sin((2 * Math.PI * (position + 5 * seed)) / 24) + 0.4 * Math.sin(position * position * 12.9898 + seed);
}

function batchOf(contexts: readonly Context[], contextLength: number, horizon: number): ForecastBatch {
  const values = new Float32Array(contexts.length * contextLength);
  for (const [row, context] of contexts.entries()) {
    // The newest observation is position 0 at every length.
    for (let i = 0; i < contextLength; i++) values[row * contextLength + i] = context(i + 1 - contextLength);
  }
  return { rows: contexts.length, contextLength, horizon, values };
}

function assertNear(actual: Float32Array, expected: Float32Array, tolerance: number): void {
  assert.equal(actual.length, expected.length);
  const farthest = actual.reduce((far, value, i) => Math.max(far, Math.abs(value - expected[i])), 0);
  assert(farthest <= tolerance, `forecasts differ by ${farthest}, more than ${tolerance}`);
}

function assertFinite(forecasts: Float32Array): void {
  assert(forecasts.every(Number.isFinite), `a forecast is not finite: ${forecasts}`);
}

for (const { name, forecaster, isEquivariant, tolerance } of implementations) {
  const { limits } = forecaster;
  const { context, contextBuckets, horizonMax } = limits;

  describe(name, () => {
    test('its buckets ascend to its context', () => {
      const actual = [...contextBuckets].sort((a, b) => a - b);
      assert.deepEqual(actual, contextBuckets);
      assert.equal(contextBuckets.at(-1), context);
    });

    test('a batch of any bucket and horizon gives rows * horizon finite medians and keeps its values', async () => {
      for (const contextLength of contextBuckets) {
        for (const horizon of [1, horizonMax - 1, horizonMax]) {
          const batch = batchOf([wave(1), wave(2), wave(3)], contextLength, horizon);
          const before = batch.values.slice();
          const medians = await forecaster.forecast(batch);
          assert.equal(medians.length, 3 * horizon);
          assertFinite(medians);
          assert.deepEqual(batch.values, before);
        }
      }
    });

    test('the forecast of a row does not depend on the other rows of its batch', async () => {
      const contexts = Array.from({ length: 70 }, (_, row) => wave(row));
      const inOneBatch = await forecaster.forecast(batchOf(contexts, context, 5));
      const merged = await Promise.all(contexts.map((each) => forecaster.forecast(batchOf([each], context, 5))));
      for (const [row, medians] of merged.entries()) {
        assert.deepEqual(medians, inOneBatch.slice(row * 5, row * 5 + 5));
      }
      const alone = await forecaster.forecast(batchOf([contexts[3]], context, 5));
      assert.deepEqual(alone, inOneBatch.slice(15, 20));
    });

    test('the same batch has the same forecast, bit for bit', async () => {
      const batch = batchOf([wave(1), wave(2)], contextBuckets[0], horizonMax);
      assert.deepEqual(await forecaster.forecast(batch), await forecaster.forecast(batch));
    });

    for (const [kind, values] of Object.entries<Context>({
      constant: () => 42,
      zero: () => 0,
      'never observed': () => Number.NaN,
      'observed once': (position) => (position === -3 ? 5 : Number.NaN),
      huge: (position) => 1e36 * wave(1)(position),
      'huge after ordinary': (position) => (position > -2 ? 1e36 : wave(1)(position)),
      tiny: (position) => 1e-36 * wave(1)(position),
      'smallest of all': (position) => (position % 2 === 0 ? 1e-45 : 0),
      'far from zero': (position) => 1e9 + wave(1)(position),
    })) {
      test(`a context that is ${kind} has a finite forecast`, async () => {
        for (const contextLength of contextBuckets) {
          assertFinite(await forecaster.forecast(batchOf([values], contextLength, horizonMax)));
        }
      });
    }

    test('padding on the left gives the forecast of the shorter context', async () => {
      for (const contextLength of contextBuckets.slice(0, -1)) {
        const padded: Context = (position) => (position > -contextLength ? wave(1)(position) : Number.NaN);
        const short = await forecaster.forecast(batchOf([wave(1)], contextLength, horizonMax));
        assertNear(await forecaster.forecast(batchOf([padded], context, horizonMax)), short, tolerance);
      }
    });

    test('an aborted signal rejects with its reason', async () => {
      const reason = new Error('no longer wanted');
      const aborted = async () => forecaster.forecast(batchOf([wave(1)], context, 1), AbortSignal.abort(reason));
      await assert.rejects(aborted, reason);
    });

    if (limits.membersMax !== undefined) testGroups(forecaster, tolerance);
    if (!isEquivariant) return;

    test('a context shifted by 100 has its forecast shifted by 100', async () => {
      const forecast = await forecaster.forecast(batchOf([wave(1)], context, horizonMax));
      const moved = await forecaster.forecast(batchOf([(position) => wave(1)(position) + 100], context, horizonMax));
      assertNear(
        moved.map((value) => value - 100),
        forecast,
        tolerance,
      );
    });

    test('a flat context with one odd value anywhere has a flat forecast', async () => {
      const odd = [0, -1, -50].map(
        (at): Context =>
          (position) =>
            position === at ? 500 : 20,
      );
      const forecast = await forecaster.forecast(batchOf([...odd, () => 20], context, horizonMax));
      for (let row = 0; row < odd.length; row++) {
        assert.deepEqual(
          forecast.slice(row * horizonMax, (row + 1) * horizonMax),
          forecast.slice(odd.length * horizonMax),
        );
      }
    });

    test('one value of 1e38 moves forecasts no more than one of 100', async () => {
      const glitch =
        (size: number): Context =>
        (position) =>
          wave(1)(position) + (position === -70 ? size : 0);
      const contexts = [wave(1), glitch(100), glitch(1e38)];
      const forecast = await forecaster.forecast(batchOf(contexts, context, horizonMax));
      const row = (at: number) => forecast.slice(at * horizonMax, (at + 1) * horizonMax);
      assertNear(row(2), row(1), tolerance);
    });

    for (const scale of [1_000, 0.001, 1e30, 1e-30]) {
      test(`a context times ${scale} has its forecast times ${scale}`, async () => {
        const forecast = await forecaster.forecast(batchOf([wave(1)], context, horizonMax));
        const scaled = await forecaster.forecast(
          batchOf([(position) => wave(1)(position) * scale], context, horizonMax),
        );
        assertNear(
          scaled.map((value) => value / scale),
          forecast,
          tolerance,
        );
      });
    }
  });
}

/** Deterministic white noise between -1 and 1. */
function hashed(position: number): number {
  const mixed = Math.imul(position ^ (position >>> 15), 0x2c1b3c6d) ^ 0x297a2d39;
  return (Math.imul(mixed ^ (mixed >>> 12), 0x9e3779b1) >>> 0) / 2 ** 31 - 1;
}

/** Tests of implementations that take groups. */
function testGroups(forecaster: Forecaster, tolerance: number): void {
  const { context, membersMax = 1 } = forecaster.limits;
  const horizon = 12;
  const lead = 20;
  const leader: Context = (position) => hashed(position) + hashed(position - 1);
  const follower: Context = (position) => 3 * leader(position - lead) + 7;
  const groupOf = (contexts: readonly Context[]) => ({ ...batchOf(contexts, context, horizon), isGroup: true });

  test('a group of one has the forecast of a single series', async () => {
    const alone = await forecaster.forecast(batchOf([wave(1)], context, horizon));
    assert.deepEqual(await forecaster.forecast(groupOf([wave(1)])), alone);
  });

  test('the forecast of a group does not depend on concurrent requests', async () => {
    const members = [leader, follower, wave(1), wave(2), wave(3)];
    const before = await forecaster.forecast(groupOf(members));
    const [concurrent] = await Promise.all([
      forecaster.forecast(groupOf(members)),
      forecaster.forecast(groupOf([follower, leader])),
      forecaster.forecast(batchOf([wave(1), leader, follower], context, horizon)),
    ]);
    assert.deepEqual(concurrent, before);
  });

  test('the order of members changes only the order of their forecasts', async () => {
    const first = await forecaster.forecast(groupOf([leader, wave(1), follower]));
    const second = await forecaster.forecast(groupOf([follower, leader, wave(1)]));
    assertNear(second, Float32Array.of(...first.slice(2 * horizon), ...first.slice(0, 2 * horizon)), tolerance);
  });

  test('a member that lags another has less than half the error of a single forecast', async () => {
    const errorOf = (forecasts: Float32Array) =>
      forecasts.reduce((sum, value, k) => sum + Math.abs(value - follower(k + 1)), 0);
    const alone = await forecaster.forecast(batchOf([follower], context, horizon));
    const forecasts = await forecaster.forecast(groupOf([leader, follower, wave(1)]));
    assert(errorOf(forecasts.slice(horizon, 2 * horizon)) < 0.5 * errorOf(alone));
  });

  test('a group of membersMax members is forecast', async () => {
    const members = Array.from({ length: membersMax }, (_, row) => wave(row));
    assertFinite(await forecaster.forecast(groupOf(members)));
  });
}
