import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from '../../fixture/http/ask.ts';
import { startApp } from '../../fixture/http/http-service.ts';

const app = await startApp();
const cause = Array.from({ length: 240 }, (_, i) => ((i * 7919) % 13) / 13);
const other = Array.from({ length: 240 }, (_, i) => ((i * 104_729) % 17) / 17);
const y = cause.map((_, i) => 5 * (cause[i - 1] ?? 0) + Math.sin(i / 5));
const SERIES = { y, sizes: [120, 120], X: [other, cause] };

test('one weight a feature, with its method, and no names', async () => {
  for (const method of ['granger', 'transfer_entropy']) {
    const { status, body } = await ask(app, '/v2/explain', { series: SERIES, method });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ['weights', 'method', 'feature_names']);
    assert.equal(body.method, method);
    assert.equal(body.feature_names, null);
    assert.ok(body.weights[1] > body.weights[0], String(body.weights));
  }
  const { body } = await ask(app, '/v2/explain', { series: SERIES });
  assert.equal(body.method, 'granger', 'by default');
});

test('texts are categories where they are named, and refused elsewhere', async () => {
  const texts = cause.map((value) => (value > 0.5 ? 'high' : 'low'));
  const named = { ...SERIES, X: [other, texts], categorical_exog: [1] };
  assert.equal((await ask(app, '/v2/explain', { series: named })).status, 200);
  const { status, body } = await ask(app, '/v2/explain', { series: { ...SERIES, X: [other, texts] } });
  assert.equal(status, 422);
  assert.match(body.detail[0].msg, /must be named in categorical_exog/);
});

test('what a request may hold has limits that are named', async () => {
  const refusals: [object, string, RegExp][] = [
    [{ ...SERIES, X: [] }, 'body.series.X', /at least 1/],
    [{ y, sizes: [120, 120] }, 'body.series.X', /required/i],
    [{ ...SERIES, X: null }, 'body.series.X', /list|array/],
    [{ ...SERIES, X: [other.slice(1)] }, 'body.series.X.0', /a variable has 239 values, but y has 240/],
    [{ ...SERIES, sizes: [120] }, 'body.series.sizes', /sizes add up to 120/],
    [{ ...SERIES, X: new Array(76).fill(other) }, 'body.series.X', /X has 76 features; at most 75/],
  ];
  for (const [series, loc, text] of refusals) {
    const { status, body } = await ask(app, '/v2/explain', { series });
    assert.equal(status, 422, loc);
    assert.equal(body.detail[0].loc.join('.'), loc);
    assert.match(body.detail[0].msg, text);
  }
  const long = { y: new Array(500_001).fill(1), sizes: [500_001] };
  const { body } = await ask(app, '/v2/explain', { series: { ...long, X: [long.y, long.y] } });
  assert.match(body.detail[0].msg, /the features have 1000002 values together; at most 1000000/);
  const unknown = await ask(app, '/v2/explain', { series: SERIES, method: 'shapley' });
  assert.deepEqual([unknown.status, unknown.body.detail[0].loc.join('.')], [422, 'body.method']);
});
