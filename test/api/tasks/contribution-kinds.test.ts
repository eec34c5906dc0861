import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from '../../fixture/http/ask.ts';
import { startApp } from '../../fixture/http/http-service.ts';

const app = await startApp();
const N = 150;
const H = 6;
const load = Array.from({ length: N + H }, (_, i) => (i * 37) % 11);
const day = Array.from({ length: N + H }, (_, i) => (i % 5 === 0 ? 'holiday' : 'workday'));
const y = Array.from({ length: N }, (_, i) => 50 + 3 * load[i] + (day[i] === 'holiday' ? 20 : 0) + Math.sin(i * i));
const series = {
  y,
  sizes: [N],
  X: [load.slice(0, N), day.slice(0, N)],
  X_future: [load.slice(N), day.slice(N)],
  categorical_exog: [1],
};
const common = { freq: 'D', h: H, feature_contributions: true };
const KINDS = ['shapley', 'intervention', 'granger', 'transfer_entropy'] as const;
const near = (a: number, b: number) => Math.abs(a - b) < 1e-6;

async function forecast(changes: object = {}) {
  const { status, body } = await ask(app, '/v2/forecast', { ...common, series, ...changes });
  assert.equal(status, 200, JSON.stringify(body).slice(0, 300));
  return body as { readonly mean: number[]; readonly feature_contributions: number[][]; readonly weights_x: number[] };
}

test('every kind has a row for each variable and one for the rest, and they add up to the same forecast', async () => {
  const plain = await forecast();
  for (const kind of KINDS) {
    const { mean, feature_contributions: rows, weights_x } = await forecast({ feature_contributions_type: kind });
    assert.deepEqual([mean, weights_x], [plain.mean, plain.weights_x], kind);
    assert.equal(rows.length, 3);
    for (const [k, value] of mean.entries()) assert.ok(near(rows[0][k] + rows[1][k] + rows[2][k], value), kind);
    if (kind !== 'shapley') assert.notDeepEqual(rows, plain.feature_contributions, kind);
    else assert.deepEqual(rows, plain.feature_contributions);
  }
});

test('an intervention is the difference from the forecast with a variable at its mean, or its mode', async () => {
  const { mean, feature_contributions: rows } = await forecast({ feature_contributions_type: 'intervention' });
  const average = load.slice(0, N).reduce((sum, value) => sum + value, 0) / N;
  const usual = [new Array(H).fill(average), new Array(H).fill('workday')];
  for (const v of [0, 1]) {
    const X_future = series.X_future.map((column, i) => (i === v ? usual[v] : column));
    const other = await forecast({ series: { ...series, X_future } });
    for (const [k, value] of mean.entries()) assert.ok(near(value - other.mean[k], rows[v][k]), `${v}, step ${k}`);
  }
});

test('granger and transfer_entropy share the distance from the historical mean out by the weights of explain', async () => {
  const average = y.reduce((sum, value) => sum + value, 0) / N;
  for (const method of ['granger', 'transfer_entropy']) {
    const { X_future: _, ...history } = series;
    const { weights } = (await ask(app, '/v2/explain', { series: history, method })).body;
    const { mean, feature_contributions: rows } = await forecast({ feature_contributions_type: method });
    mean.forEach((value, k) => {
      for (const v of [0, 1]) assert.ok(near(rows[v][k], weights[v] * (value - average)), `${method} ${v} ${k}`);
      assert.ok(near(rows[2][k], average));
    });
  }
});

test('a rare event counts on its days alone by shapley, and by granger with the same share on every day', async () => {
  const event = load.map((_, i) => Number(i % 29 === 6));
  const wind = load.map((_, i) => 5 * Math.sin(1.7 * i * i));
  const values = y.map((_, i) => 50 + (wind[i - 1] ?? 0) + 20 * event[i] + Math.sin(i * i));
  const X = [event.slice(0, N), wind.slice(0, N)];
  const rare = { y: values, sizes: [N], X, X_future: [event.slice(N), wind.slice(N)] };
  const shares = async (kind: string) => {
    const { mean, feature_contributions: rows } = await forecast({ series: rare, feature_contributions_type: kind });
    const average = values.reduce((sum, value) => sum + value, 0) / N;
    return mean.map((value, k) => [rows[0][k], rows[0][k] / (value - average)] as const);
  };
  const [shapley, granger] = [await shares('shapley'), await shares('granger')];
  assert.ok(shapley[1][0] > 15 && shapley.every(([effect], k) => k === 1 || Math.abs(effect) < 2), String(shapley));
  assert.ok(
    granger.every(([, share]) => near(share, granger[0][1])),
    String(granger),
  );
  assert.ok(granger[1][0] < 5, 'the past of the event does not announce the next value');
});

test('windows and whole histories have contributions of every kind; those of a window see no value after it', async () => {
  const { X_future: _, ...history } = series;
  for (const kind of KINDS) {
    for (const changes of [{ n_windows: 2 }, { full_history: true }]) {
      const request = { ...common, series: history, feature_contributions_type: kind, ...changes };
      const { status, body } = await ask(app, '/v2/cross_validation', request);
      assert.equal(status, 200, kind);
      const rows: number[][] = body.feature_contributions;
      body.mean.forEach((value: number | null, k: number) => {
        if (value !== null) assert.ok(near(rows[0][k] + rows[1][k] + rows[2][k], value), kind);
      });
    }
    const request = { ...common, series: history, feature_contributions_type: kind, n_windows: 1 };
    const changed = { ...history, y: y.map((value, i) => (i < N - H ? value : value + 100)) };
    const [before, after] = [
      await ask(app, '/v2/cross_validation', request),
      await ask(app, '/v2/cross_validation', { ...request, series: changed }),
    ];
    assert.deepEqual(after.body.feature_contributions, before.body.feature_contributions, kind);
  }
});

test('an unknown kind, and more than relevance can be weighed of, are refused', async () => {
  const unknown = await ask(app, '/v2/forecast', { ...common, series, feature_contributions_type: 'lime' });
  assert.deepEqual([unknown.status, unknown.body.detail[0].loc], [422, ['body', 'feature_contributions_type']]);
  const many = { ...series, X: new Array(76).fill(load.slice(0, N)), X_future: null, categorical_exog: null };
  const request = { ...common, series: many, feature_contributions_type: 'granger' };
  const refused = await ask(app, '/v2/forecast', request);
  assert.deepEqual([refused.status, refused.body.detail[0].loc], [422, ['body', 'series', 'X']]);
  assert.match(refused.body.detail[0].msg, /76 features; at most 75/);
  assert.equal((await ask(app, '/v2/forecast', { ...request, feature_contributions: false })).status, 200);
});
