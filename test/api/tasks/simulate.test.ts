import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Check } from 'typebox/value';
import { SimulateAnswer } from '../../../src/api/wire/schema/tasks/simulate-schema.ts';
import { ask } from '../../fixture/http/ask.ts';
import { startApp } from '../../fixture/http/http-service.ts';
import { seededRandom } from '../../fixture/seeded-random.ts';

const app = await startApp();

/** Normal noise. */
function noiseOf(seed: number): () => number {
  const random = seededRandom(seed);
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Histories of which each value is `memory` times the one before and noise, `shared` of it the same for all. */
function histories(count: number, length: number, { memory = 0.8, shared = 0 } = {}): number[][] {
  const common = noiseOf(100);
  const own = Array.from({ length: count }, (_, i) => noiseOf(i));
  const all = own.map(() => [0]);
  for (let t = 1; t < length; t++) {
    const together = common();
    all.forEach((values, i) => {
      values.push(memory * values[t - 1] + Math.sqrt(shared) * together + Math.sqrt(1 - shared) * own[i]());
    });
  }
  return all.map((values) => values.map((value) => Math.fround(10 + value)));
}

const seriesOf = (all: readonly (readonly (number | null)[])[]) => ({
  y: all.flat(),
  sizes: all.map(({ length }) => length),
});
const [A, B, C] = histories(3, 600, { shared: 0.7 });
const H = 6;
const simulate = (body: object | string) =>
  ask(app, '/v2/simulate', typeof body === 'string' ? body : { series: seriesOf([A]), freq: 'D', h: H, ...body });

/** Values of one step of a series over all paths. */
function stepOf({ samples, n_paths: paths, h, sizes }: Paths, series: number, step: number): number[] {
  return Array.from({ length: paths }, (_, path) => samples[(path * sizes.length + series) * h + step]);
}
type Paths = { samples: number[]; n_paths: number; h: number; sizes: number[]; coupled: boolean };

function correlation(x: readonly number[], y: readonly number[]): number {
  const centred = (values: readonly number[]) => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return values.map((value) => value - mean);
  };
  const [a, b] = [centred(x), centred(y)];
  const dot = (p: readonly number[], q: readonly number[]) => p.reduce((sum, value, i) => sum + value * q[i], 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

test('an answer has the paths of all series, flat', async () => {
  const series = seriesOf([A, B]);
  const { status, body } = await simulate({ series, n_paths: 7, quantiles: null, seed: null });
  assert.equal(status, 200);
  assert.equal(Check(SimulateAnswer, body), true);
  assert.equal(body.samples.length, 7 * 2 * H);
  assert.deepEqual([body.n_paths, body.h, body.sizes, body.coupled], [7, H, [H, H], false]);
  assert.deepEqual([body.input_tokens, body.output_tokens], [1_200, 7 * 2 * H]);
  assert.equal((await simulate({})).body.n_paths, 100);
});

test('the marginal distribution of each step is that of the forecast', async () => {
  const levels = [98, 80, 60, 20, 0];
  const paths = 1_000;
  const { body } = await simulate({ n_paths: paths });
  const forecast = await ask(app, '/v2/forecast', { series: seriesOf([A]), freq: 'D', h: H, level: levels });
  for (let step = 0; step < H; step++) {
    const ascending = stepOf(body, 0, step).sort((a, b) => a - b);
    const at = (probability: number) => {
      const place = probability * paths - 0.5;
      const below = Math.floor(place);
      return ascending[below] + (place - below) * (ascending[below + 1] - ascending[below]);
    };
    const { 'lo-80': lo, 'hi-80': hi } = forecast.body.intervals;
    const spread = hi[step] - lo[step];
    for (const level of levels) {
      for (const [side, probability] of [
        ['lo', (1 - level / 100) / 2],
        ['hi', (1 + level / 100) / 2],
      ] as const) {
        const quantile = forecast.body.intervals[`${side}-${level}`][step];
        const distance = Math.abs(at(probability) - quantile);
        assert.ok(distance < spread / 100, `${side}-${level} of step ${step}: ${distance}`);
      }
    }
  }
});

test('paths are correlated in time as the history is', async () => {
  for (const memory of [0, 0.5, 0.9]) {
    const [history] = histories(1, 2_000, { memory });
    const { body } = await simulate({ series: seriesOf([history]), n_paths: 2_000, seed: 1 });
    for (const lag of [1, 2]) {
      const ofHistory = correlation(history.slice(lag), history.slice(0, -lag));
      for (const step of [0, 2]) {
        const ofPaths = correlation(stepOf(body, 0, step), stepOf(body, 0, step + lag));
        assert.ok(Math.abs(ofPaths - ofHistory) < 0.08, `memory ${memory}, lag ${lag}: ${ofPaths}, ${ofHistory}`);
      }
    }
  }
});

test('a season and a trend of the history are no correlation of its paths', async () => {
  const noise = noiseOf(5);
  const history = Array.from({ length: 700 }, (_, t) => 0.05 * t + 4 * Math.sin((2 * Math.PI * t) / 7) + noise());
  const { body } = await simulate({ series: seriesOf([history]), n_paths: 2_000, seed: 1 });
  for (const step of [1, 3, 5]) {
    assert.ok(Math.abs(correlation(stepOf(body, 0, 0), stepOf(body, 0, step))) < 0.12, `step ${step}`);
  }
});

test('coupled paths are correlated between series as the histories are, others are not', async () => {
  const series = seriesOf([A, B, C]);
  const coupled = (await simulate({ series, n_paths: 2_000, seed: 1, multivariate: true })).body;
  const apart = (await simulate({ series, n_paths: 2_000, seed: 1 })).body;
  assert.deepEqual([coupled.coupled, apart.coupled], [true, false]);
  for (const [i, j, histories] of [
    [0, 1, [A, B]],
    [1, 2, [B, C]],
  ] as const) {
    const ofHistories = correlation(histories[0], histories[1]);
    for (const step of [0, H - 1]) {
      const together = correlation(stepOf(coupled, i, step), stepOf(coupled, j, step));
      assert.ok(Math.abs(together - ofHistories) < 0.08, `${together}, ${ofHistories}`);
      assert.ok(Math.abs(correlation(stepOf(apart, i, step), stepOf(apart, j, step))) < 0.08);
    }
  }
  const first = ({ samples }: Paths) => samples.filter((_, i) => Math.floor(i / H) % 3 === 0);
  assert.deepEqual(first(coupled), first(apart), 'the first series has the same paths in both');
});

test('paths are coupled where all series end together and share a window without gaps', async () => {
  const short = B.slice(-50);
  const gaps = B.map((value, t) => (t % 200 < 190 ? null : value));
  const others = A.map((value, t) => ((t + 100) % 200 < 190 ? null : value));
  const cases: [object, boolean, string][] = [
    [seriesOf([A, short]), true, 'of other lengths'],
    [seriesOf([A]), false, 'one series'],
    [seriesOf([A, gaps]), true, 'gaps with windows between them'],
    [seriesOf([others, gaps]), false, 'no shared window'],
    [{ ...seriesOf([A, B]), start_datetime: ['2026-01-01', '2026-01-01'] }, true, 'starts'],
    [{ ...seriesOf([A, B]), start_datetime: ['2026-01-01', '2026-01-02'] }, false, 'other origins'],
    [{ ...seriesOf([A, short]), start_datetime: ['2026-01-01', '2027-07-05'] }, true, 'the same origin'],
  ];
  for (const [series, expected, name] of cases) {
    const { status, body } = await simulate({ series, n_paths: 4, multivariate: true });
    assert.deepEqual([status, body.coupled], [200, expected], name);
  }
});

test('the same seed gives the same paths; every digit of it counts; without one they are new', async () => {
  const withSeed = async (text: string) => {
    const series = JSON.stringify(seriesOf([A, B]));
    const { status, body } = await simulate(`{"series":${series},"freq":"D","h":${H},"n_paths":20,"seed":${text}}`);
    assert.equal(status, 200, text);
    return String(body.samples);
  };
  const seeds = ['0', '1', '9007199254740992', '9007199254740993', '18446744073709551615', '18446744073709551614'];
  const lowest = ['-9223372036854775808', '-9223372036854775807', '-1'];
  const all = await Promise.all([...seeds, ...lowest].map(withSeed));
  assert.equal(new Set(all).size, all.length);
  assert.equal(await withSeed('9007199254740993'), all[3]);
  assert.equal(await withSeed('-0'), all[0]);
  assert.equal(await withSeed('1.0'), all[1]);
  assert.notEqual(await withSeed('null'), await withSeed('null'));
});

test('paths of a series do not depend on the others, and a series sent twice has two sets of paths', async () => {
  const of = async (all: number[][]) => (await simulate({ series: seriesOf(all), n_paths: 5, seed: 3 })).body.samples;
  const [alone, second, twice] = [await of([B]), await of([A, B]), await of([B, B])];
  const pathsOf = (samples: number[], series: number) => samples.filter((_, i) => Math.floor(i / H) % 2 === series);
  assert.deepEqual(pathsOf(second, 1), alone);
  assert.deepEqual(pathsOf(twice, 0), alone);
  assert.notDeepEqual(pathsOf(twice, 1), alone);
});

test('a single path is drawn as one of many', async () => {
  const firsts: number[] = [];
  const lasts: number[] = [];
  const [history] = histories(1, 400, { memory: 0.95 });
  for (let seed = 0; seed < 60; seed++) {
    const { body } = await simulate({ series: seriesOf([history]), h: 2, n_paths: 1, seed });
    firsts.push(body.samples[0]);
    lasts.push(body.samples[1]);
  }
  assert.ok(new Set(firsts).size > 10);
  assert.ok(correlation(firsts, lasts) > 0.7);
});

test('variables with future values move the paths', async () => {
  const load = A.map((_, t) => Math.sin(t * t));
  const y = A.map((value, t) => value + 20 * load[t]);
  const series = { y, sizes: [600], X: [load], X_future: [[0, 1, 0, 1, 0, 1]] };
  const { body } = await simulate({ series, n_paths: 50, seed: 1 });
  const means = Array.from(
    { length: H },
    (_, step) => stepOf(body, 0, step).reduce((sum, value) => sum + value, 0) / 50,
  );
  for (const step of [0, 2, 4]) assert.ok(means[step + 1] > means[step] + 10, String(means));
});

test('what a request may hold has limits that are named, each a problem of its field', async () => {
  const many = Array.from({ length: 201 }, (_, i) => (i + 1) / 202);
  const gaps = A.map((value, t) => (t % 5 === 0 ? null : value));
  const refusals: [object, string, RegExp][] = [
    [{ n_paths: 0 }, 'body.n_paths', /greater than or equal to 1/],
    [{ n_paths: 10_001 }, 'body.n_paths', /less than or equal to 10000/],
    [{ n_paths: 1.5 }, 'body.n_paths', /integer/],
    [{ n_paths: '100' }, 'body.n_paths', /integer/],
    [{ quantiles: [0.5] }, 'body.quantiles', /at least 2/],
    [{ quantiles: many }, 'body.quantiles', /at most 200/],
    [{ quantiles: [0, 0.5] }, 'body.quantiles.0', /greater than 0/],
    [{ quantiles: [0.5, 1] }, 'body.quantiles.1', /less than 1/],
    [{ quantiles: [0.5, 0.5] }, 'body.quantiles.1', /strictly increasing, got 0.5 after 0.5/],
    [{ quantiles: [0.1, 0.9, 0.5] }, 'body.quantiles.2', /strictly increasing/],
    [{ quantiles: ['0.1', 0.9] }, 'body.quantiles.0', /number/],
    [{ seed: '7' }, 'body.seed', /integer/],
    [{ seed: 1.5 }, 'body.seed', /integer/],
    [{ seed: true }, 'body.seed', /integer/],
    [{ h: 0 }, 'body.h', /greater than 0/],
    [{ h: 601 }, 'body.series.sizes.0', /too few for a window of 601 steps/],
    [{ h: 501, n_paths: 10_000 }, 'body.n_paths', /5010000 values, more than 5000000/],
    [{ series: seriesOf([gaps]) }, 'body.series.y', /no 6 values without a gap/],
    [{ series: seriesOf([[1, 2, 3, 4, 5, 6, 7]]) }, 'body.series.sizes.0', /Minimum required 8 samples/],
    [{ series: { ...seriesOf([A]), X: [A], X_future: [[1]] } }, 'body.series.X_future.0', /make 6/],
    [{ series: { y: A, sizes: [599] } }, 'body.series.sizes', /add up to 599, but y has 600/],
  ];
  for (const [change, loc, text] of refusals) {
    const { status, body } = await simulate(change);
    assert.deepEqual([status, body.detail[0].loc.join('.')], [422, loc], JSON.stringify(body));
    assert.match(body.detail[0].msg, text);
  }
  const wide = { series: { y: new Array(480_000).fill(1), sizes: [...Array(48_000)].map(() => 10) }, h: 2, n_paths: 1 };
  const { body } = await simulate({ ...wide, quantiles: many.slice(0, 104) });
  assert.equal(body.detail[0].loc.join('.'), 'body.quantiles');
  assert.match(body.detail[0].msg, /10080000 values, more than 10000000/);
});

test('a seed beyond 64 bits is refused by its digits', async () => {
  for (const seed of ['18446744073709551616', '-9223372036854775809', '1e19', '1e400', `1${'0'.repeat(400)}`]) {
    const series = JSON.stringify(seriesOf([A]));
    const { status, body } = await simulate(`{"series":${series},"freq":"D","h":6,"seed":${seed}}`);
    assert.deepEqual([status, body.detail[0].loc.join('.')], [422, 'body.seed'], seed);
    assert.doesNotMatch(body.detail[0].msg, /fractional/, seed);
  }
});
