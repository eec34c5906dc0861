import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Check } from 'typebox/value';
import { CrossValidationAnswer, ForecastAnswer } from '../../../src/api/wire/schema/tasks/forecast-schema.ts';
import { ask } from '../../fixture/http/ask.ts';
import { startApp } from '../../fixture/http/http-service.ts';

const app = await startApp();
const N = 150;
const H = 6;
const load = Array.from({ length: N + H }, (_, i) => (i * 37) % 11);
const day = Array.from({ length: N + H }, (_, i) => (i % 5 === 0 ? 'holiday' : 'workday'));
const past = Array.from({ length: N }, (_, i) => (i * 13) % 7);
const noise = (i: number) => ((Math.sin((i + 1) * 12.9898) * 43_758.5453) % 1) / 2;
const valueAt = (i: number) => noise(i) + 50 + 3 * load[i] + (day[i] === 'holiday' ? 20 : 0);
const y = Array.from({ length: N }, (_, i) => valueAt(i));
/** Two series alike; the first two variables have a future. */
const series = {
  y: [...y, ...y],
  sizes: [N, N],
  X: [
    [...load.slice(0, N), ...load.slice(0, N)],
    [...day.slice(0, N), ...day.slice(0, N)],
    [...past, ...past],
  ],
  categorical_exog: [1],
};
const future = { X_future: [0, 1].map((v) => [...[load, day][v].slice(N), ...[load, day][v].slice(N)]) };
const common = { freq: 'D', model: 'timegpt-2.1' };

for (const clean of [true, false]) {
  const how = clean ? 'removed before the model' : 'applied after it';

  test(`a forecast follows its future variables, and its contributions add up (effects ${how})`, async () => {
    const { status, body } = await ask(app, '/v2/forecast', {
      ...common,
      series: { ...series, ...future },
      h: H,
      level: [80],
      clean_ex_first: clean,
      feature_contributions: true,
    });
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(Check(ForecastAnswer, body), true);
    assert.equal(body.weights_x.length, 3);
    assert.ok(body.weights_x[0] > body.weights_x[2]);
    assert.equal(body.feature_contributions.length, 4);
    body.mean.forEach((mean: number, k: number) => {
      const sum = body.feature_contributions.reduce((at: number, row: number[]) => at + row[k], 0);
      assert.ok(Math.abs(sum - mean) <= 1e-3 * Math.abs(mean));
      assert.equal(body.feature_contributions[2][k], 0, 'a variable without a future adds nothing');
      assert.ok(body.intervals['lo-80'][k] < mean && mean < body.intervals['hi-80'][k]);
    });
    const holiday = day.slice(N).indexOf('holiday');
    assert.ok(body.feature_contributions[1][holiday] > 10);
    assert.equal(body.input_tokens, 2 * N * 4 + 2 * 2 * H);
  });

  test(`windows use no value after their cutoff but future variables (effects ${how})`, async () => {
    const body = { ...common, h: H, n_windows: 3, clean_ex_first: clean, hist_exog: [2], feature_contributions: true };
    const whole = await ask(app, '/v2/cross_validation', { ...body, series });
    assert.equal(whole.status, 200, JSON.stringify(whole.body));
    assert.equal(Check(CrossValidationAnswer, whole.body), true);
    const changed = series.y.map((value, i) => (i % N >= N - 2 * H ? 1e4 + value : value));
    const other = await ask(app, '/v2/cross_validation', { ...body, series: { ...series, y: changed } });
    for (const start of [0, 3 * H]) {
      assert.deepEqual(other.body.mean.slice(start, start + 2 * H), whole.body.mean.slice(start, start + 2 * H));
    }
    assert.ok(whole.body.feature_contributions[2].every((value: number) => value === 0));
    whole.body.mean.forEach((mean: number, k: number) => {
      const sum = whole.body.feature_contributions.reduce((at: number, row: number[]) => at + row[k], 0);
      assert.ok(Math.abs(sum - mean) <= 1e-3 * Math.abs(mean));
    });
  });

  test(`values explained by a variable are no anomalies, others are (effects ${how})`, async () => {
    const odd = [...series.y];
    odd[N - 3] += 60;
    const body = { ...common, series: { ...series, y: odd }, clean_ex_first: clean };
    const online = await ask(app, '/v2/online_anomaly_detection', { ...body, h: 3, detection_size: 5, level: 99.9 });
    assert.equal(online.status, 200, JSON.stringify(online.body));
    assert.deepEqual(online.body.anomaly, [false, false, true, false, false, ...new Array(5).fill(false)]);
    const whole = await ask(app, '/v2/anomaly_detection', { ...body, level: 99.9 });
    assert.equal(whole.status, 200);
    assert.equal(whole.body.anomaly[N - 3], true);
    assert.equal(whole.body.weights_x.length, 3);
    assert.ok(Math.abs(whole.body.weights_x.reduce((sum: number, weight: number) => sum + weight, 0) - 1) < 1e-9);
    const without = await ask(app, '/v2/anomaly_detection', {
      ...body,
      series: { y: odd, sizes: [N, N] },
      level: 99.9,
    });
    const width = (answer: typeof whole) => answer.body.intervals['hi-99.9'][0] - answer.body.intervals['lo-99.9'][0];
    assert.ok(width(whole) < 0.7 * width(without));
  });
}

test('the full history has feature contributions', async () => {
  const body = { ...common, series, h: 1, full_history: true, feature_contributions: true };
  const answer = await ask(app, '/v2/cross_validation', body);
  assert.equal(answer.body.feature_contributions.length, 4);
  answer.body.mean.forEach((mean: number, k: number) => {
    const sum = answer.body.feature_contributions.reduce((at: number, row: number[]) => at + row[k], 0);
    assert.ok(Math.abs(sum - mean) <= 1e-3 * Math.abs(mean));
  });
});

test('invalid variables are reported by field', async () => {
  const wrong = { ...series, X_future: [[1, 2]], categorical_exog: [] };
  const { status, body } = await ask(app, '/v2/forecast', { ...common, series: wrong, h: H });
  assert.equal(status, 422);
  const places = body.detail.map(({ loc }: { loc: unknown[] }) => loc.join('.'));
  assert.deepEqual(places, ['body.series.X.1', 'body.series.X_future.0']);
  const beyond = await ask(app, '/v2/cross_validation', { ...common, series, h: H, hist_exog: [3] });
  assert.deepEqual(beyond.body.detail[0].loc, ['body', 'hist_exog', 0]);
});

test('too many regression columns are refused, categories counted by value', async () => {
  const numbers = Array.from({ length: 200 }, (_, v) => y.map((_, i) => (i * (v + 3)) % 7));
  const of = (X: unknown[][], categorical: number[]) =>
    ask(app, '/v2/forecast', { ...common, h: H, series: { y, sizes: [N], X, categorical_exog: categorical } });
  assert.equal((await of(numbers, [])).status, 200);
  const many = Array.from({ length: 8 }, (_, v) => y.map((_, i) => `value ${i + v}`));
  for (const [X, categorical] of [
    [[...numbers, y], []],
    [[...numbers.slice(2), day.slice(0, N), y], [198]],
    [many, [0, 1, 2, 3, 4, 5, 6, 7]],
  ] as const) {
    const { status, body } = await of([...X], [...categorical]);
    assert.deepEqual([status, body.detail[0].loc], [422, ['body', 'series', 'X']]);
  }
});

test('weights_x is null where no variable varies in any series', async () => {
  const app = await startApp();
  const y = Array.from({ length: 12 }, (_, i) => (i * 7) % 5);
  // Different between the series, and missing in places, but the same within each.
  const [year, gaps] = [y.map((_, i) => (i < 6 ? 2_025 : 2_026)), y.map((_, i) => (i % 2 === 0 ? null : 3))];
  const weightsOf = async (X: object) => {
    const series = { y, sizes: [6, 6], X };
    const forecast = await ask(app, '/v2/forecast', { series, freq: 'YS', h: 1 });
    const whole = await ask(app, '/v2/anomaly_detection', { series, freq: 'YS' });
    assert.deepEqual([forecast.status, whole.status], [200, 200]);
    return [forecast.body.weights_x, whole.body.weights_x];
  };
  assert.deepEqual(await weightsOf([year, gaps]), [null, null]);
  for (const weights of await weightsOf([year, y.map((_, i) => Number(i === 8))])) assert.equal(weights.length, 2);
});

test('series too short for effects are answered with weights_x null', async () => {
  const short = { y: [1, 2, 3, 1, 2, 3], sizes: [3, 3], X: [[1, 2, 3, 1, 2, 3]], X_future: [[1, 2]] };
  const app = await startApp();
  const { status, body } = await ask(app, '/v2/forecast', { series: short, freq: 'h', h: 1 });
  assert.deepEqual([status, body.weights_x], [200, null]);
  const whole = await ask(app, '/v2/anomaly_detection', { series: short, freq: 'h' });
  assert.deepEqual([whole.status, whole.body.weights_x], [200, null]);
});

test('declaring columns of the season as historical or as future makes a small difference', async () => {
  const app = await startApp();
  const wave = Array.from({ length: 96 + 4 }, (_, t) => Math.sin((2 * Math.PI * t) / 24));
  const y = wave.slice(0, 96).map((value, t) => 10 + 5 * value + ((t * 7919) % 13) / 20);
  const history = { y, sizes: [96], X: [wave.slice(0, 96)] };
  const meanOf = async (series: object) => (await ask(app, '/v2/forecast', { series, freq: 'h', h: 4 })).body.mean;
  const [past, future] = [await meanOf(history), await meanOf({ ...history, X_future: [wave.slice(96)] })];
  const difference = Math.max(...past.map((value: number, i: number) => Math.abs(value - future[i])));
  assert.ok(difference > 0 && difference < 1, String(difference));
});

test('the columns after those of X_future are historical where the history is forecast', async () => {
  for (const [url, fields] of [
    ['/v2/anomaly_detection', { clean_ex_first: false }],
    ['/v2/online_anomaly_detection', { h: H, detection_size: 12 }],
    ['/v2/cross_validation', { h: H, n_windows: 2 }],
    ['/v2/cross_validation', { h: H, full_history: true, clean_ex_first: false }],
  ] as const) {
    const meansOf = async (changes: object, x: object = {}) => {
      const { status, body } = await ask(app, url, { ...common, ...fields, ...changes, series: { ...series, ...x } });
      assert.equal(status, 200, JSON.stringify(body));
      return body.mean;
    };
    const all = await meansOf({ hist_exog: [0, 1, 2] });
    const first = await meansOf({ hist_exog: [1, 2] });
    const none = await meansOf({});
    assert.notDeepEqual(all, first, url);
    const known = { X_future: [new Array(2 * H).fill(1)] };
    assert.deepEqual(await meansOf({}, known), first, url);
    assert.deepEqual(await meansOf({ hist_exog: [0, 1, 2] }, known), all, url);
    for (const empty of [null, []])
      assert.deepEqual(await meansOf({ hist_exog: null }, { X_future: empty }), none, url);
  }
  const { body } = await ask(app, '/v2/anomaly_detection', { ...common, series, hist_exog: [3] });
  assert.deepEqual(body.detail[0].loc, ['body', 'hist_exog', 0]);
});
