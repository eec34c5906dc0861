import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalQuantile } from '../../../../src/forecasting/normal-distribution.ts';
import { RELEVANCE_METHODS, relevanceWeights } from '../../../../src/forecasting/relevance/relevance-weights.ts';
import { seededRandom } from '../../../fixture/seeded-random.ts';

const N = 1_500;
const pause = async () => {};
const columnOf = (value: (i: number) => number, length = N) => Float64Array.from({ length }, (_, i) => value(i));
const noise = (seed: number, length = N) => {
  const next = seededRandom(seed);
  return columnOf(() => normalQuantile(next() || 0.5), length);
};
const numeric = (values: Float64Array) => ({ values, categorical: false });

/** A series that follows the last value of `cause`, and the variables that are given. */
function following(cause: Float64Array, effect: (value: number) => number, variables: readonly Float64Array[]) {
  const own = noise(99, cause.length);
  const values = columnOf((i) => effect(cause[i - 1] ?? 0) + 0.5 * own[i], cause.length);
  return { values, variables: variables.map(numeric) };
}

test('a linear cause has nearly all weight, and noise has none by the linear measure', async () => {
  const [cause, other] = [noise(1), noise(2)];
  const history = following(cause, (value) => value, [other, cause]);
  assert.deepEqual([...(await relevanceWeights([history], { method: 'granger', pause }))], [0, 1]);
  const [rest, found] = await relevanceWeights([history], { method: 'transfer_entropy', pause });
  assert.ok(found > 0.8, `${found}, ${rest}`);
});

test('a cause that is not linear is found by its information alone', async () => {
  const [cause, other] = [noise(1), noise(2)];
  const history = following(cause, (value) => value * value, [other, cause]);
  const [rest, found] = await relevanceWeights([history], { method: 'transfer_entropy', pause });
  assert.ok(found > 0.7, `${found}, ${rest}`);
  const linear = await relevanceWeights([history], { method: 'granger', pause });
  assert.ok(linear[1] < found, 'the linear measure sees less of it, or nothing');
});

test('unrelated variables have little weight by information, whatever the kind of the cause', async () => {
  const length = 365;
  const walk = (steps: Float64Array) => {
    let at = 0;
    return steps.map((step) => (at += step));
  };
  const rare = (seed: number) => noise(seed, length).map((value) => Number(value > 1.6));
  const kinds = [
    { causeOf: rare, effect: (value: number) => 3 * value, shape: (values: Float64Array) => values },
    { causeOf: noise, effect: (value: number) => value * value, shape: (values: Float64Array) => values },
    { causeOf: noise, effect: (value: number) => value, shape: walk },
  ];
  const seeds = [10, 20, 30, 40, 50];
  for (const { causeOf, effect, shape } of kinds) {
    const sums = new Float64Array(4);
    for (const seed of seeds) {
      const cause = causeOf(seed, length);
      const unrelated = [noise(seed + 1, length), walk(noise(seed + 2, length)), rare(seed + 3)];
      const history = following(cause, effect, [cause, ...unrelated]);
      const given = [{ ...history, values: shape(history.values) }];
      const weights = await relevanceWeights(given, { method: 'transfer_entropy', pause });
      weights.forEach((weight, i) => {
        sums[i] += weight / seeds.length;
      });
    }
    assert.ok(Math.max(...sums.subarray(1)) < 0.1, String(sums));
  }
});

test('weights are not negative, add up to 1, and depend neither on scale nor on the order of the series', async () => {
  const histories = [3, 4, 5].map((seed, i) => {
    const [cause, other] = [noise(seed), noise(seed + 10)];
    const history = following(cause, (value) => 2 * value, [cause, other]);
    return { ...history, values: history.values.map((value) => 10 ** i * value + i) };
  });
  for (const method of RELEVANCE_METHODS) {
    const weights = await relevanceWeights(histories, { method, pause });
    assert.ok(weights.every((weight) => weight >= 0));
    assert.ok(Math.abs(weights.reduce((sum, weight) => sum + weight, 0) - 1) < 1e-12);
    const backwards = await relevanceWeights(histories.toReversed(), { method, pause });
    assert.ok(weights.every((weight, i) => Math.abs(weight - backwards[i]) < 1e-9));
    const scaled = histories.map(({ values, variables }) => ({
      values,
      variables: variables.map((own) => numeric(own.values.map((value) => 1_000 * value + 7))),
    }));
    const same = await relevanceWeights(scaled, { method, pause });
    assert.ok(weights.every((weight, i) => Math.abs(weight - same[i]) < 1e-9));
  }
});

test('lags do not reach into another series', async () => {
  // The first value of each series follows the last value of the variable in the series before it, and nothing else.
  const lengths = 40;
  const histories = Array.from({ length: 60 }, (_, s) => {
    const [variable, values] = [noise(s + 200, lengths), noise(s + 500, lengths)];
    if (s > 0) values[0] = 50 * noise(s + 199, lengths)[lengths - 1];
    return { values, variables: [numeric(variable), numeric(noise(s + 900, lengths))] };
  });
  const weights = await relevanceWeights(histories, { method: 'granger', pause });
  assert.deepEqual([...weights], [0.5, 0.5]);
});

test('rows with a missing lag are left out for that variable', async () => {
  const cause = noise(1);
  const full = following(cause, (value) => value, [cause, noise(2)]);
  const holes = cause.map((value, i) => (i % 50 === 0 ? Number.NaN : value));
  const variables = [numeric(holes), full.variables[1]];
  for (const method of RELEVANCE_METHODS) {
    const weights = await relevanceWeights([{ ...full, variables }], { method, pause });
    assert.ok(weights[0] > 0.7, `${method}: ${weights}`);
  }
});

test('categories count as categories, whatever their codes are', async () => {
  const kind = columnOf((i) => [7, 1, 100][(i * 7919) % 3] ?? 0);
  const effect = (code: number) => (code === 1 ? 3 : 0);
  const history = following(kind, effect, [kind, noise(2)]);
  const [codes, other] = history.variables;
  for (const method of RELEVANCE_METHODS) {
    const given = { ...history, variables: [{ ...codes, categorical: true }, other] };
    const weights = await relevanceWeights([given], { method, pause });
    assert.ok(weights[0] > 0.7, `${method}: ${weights}`);
  }
});

test('weights are equal where nothing can be distinguished: short series, constant series, constant variables', async () => {
  const constant = columnOf(() => 3);
  const cases = [
    { values: noise(1, 5), variables: [numeric(noise(2, 5)), numeric(noise(3, 5))] },
    { values: constant, variables: [numeric(noise(2)), numeric(noise(3))] },
    { values: noise(1), variables: [numeric(constant), numeric(constant)] },
    { values: constant.fill(Number.NaN), variables: [numeric(noise(2)), numeric(noise(3))] },
  ];
  for (const method of RELEVANCE_METHODS) {
    for (const history of cases) {
      assert.deepEqual([...(await relevanceWeights([history], { method, pause }))], [0.5, 0.5]);
    }
  }
});

test('a cause is found in many short series, and noise is not', async () => {
  for (const length of [4, 8, 16]) {
    const histories = Array.from({ length: 150 }, (_, s) => {
      const [cause, other, own] = [1_000, 2_000, 3_000].map((seed) => noise(seed + s, length));
      const values = columnOf((i) => 2 * (cause[i - 1] ?? 0) + own[i], length);
      return { values, variables: [numeric(cause), numeric(other)] };
    });
    const weights = await relevanceWeights(histories, { method: 'granger', pause });
    assert.deepEqual([...weights], [1, 0], `${length} values`);
  }
});

test('no variable is relevant to a series that its own past explains, and an exact cause is', async () => {
  const [periodic, cause] = [columnOf((i) => (i * 37) % 11), noise(1)];
  const explained = { values: periodic, variables: [numeric(periodic), numeric(noise(2))] };
  assert.deepEqual([...(await relevanceWeights([explained], { method: 'granger', pause }))], [0.5, 0.5]);
  const exact = { values: columnOf((i) => cause[i - 1] ?? 0), variables: [numeric(cause), numeric(noise(2))] };
  assert.deepEqual([...(await relevanceWeights([exact], { method: 'granger', pause }))], [1, 0]);
});

test('an aborted signal ends the work between two variables', async () => {
  const signal = AbortSignal.abort(new Error('gone'));
  const history = following(noise(1), (value) => value, [noise(1)]);
  await assert.rejects(relevanceWeights([history], { method: 'granger', pause, signal }), /gone/);
});
