import assert from 'node:assert/strict';
import test from 'node:test';
import { fc } from '../../fixture/fast-check.ts';
import { ask } from '../../fixture/http/ask.ts';
import { AUTHORIZED, startApp } from '../../fixture/http/http-service.ts';

const app = await startApp();
const RUNS = 40;

const ENDPOINTS = [
  '/v2/online_anomaly_detection',
  '/v2/anomaly_detection',
  '/v2/historic_forecast',
  '/v2/forecast',
  '/v2/cross_validation',
] as const;
type Url = (typeof ENDPOINTS)[number];
const urls = fc.constantFrom(...ENDPOINTS);

const observed = fc.oneof(
  { weight: 9, arbitrary: fc.double({ min: -1e6, max: 1e6, noNaN: true }).map(Math.fround) },
  { weight: 1, arbitrary: fc.constant(null) },
);
const values = (min: number, max = min) => fc.array(observed, { minLength: min, maxLength: max });

interface Request {
  readonly series: (number | null)[][];
  readonly freq: string;
  readonly h: number;
  readonly step_size: number | null;
  readonly n_windows: number;
  readonly detection_size: number;
}

/** Requests that every endpoint answers. */
const requests: fc.Arbitrary<Request> = fc.record({
  series: fc.array(values(60, 80), { minLength: 1, maxLength: 4 }),
  freq: fc.constantFrom('h', 'D', 'MS', 'Y', 'nonsense'),
  h: fc.integer({ min: 1, max: 12 }),
  step_size: fc.option(fc.integer({ min: 1, max: 12 })),
  n_windows: fc.integer({ min: 1, max: 3 }),
  detection_size: fc.integer({ min: 1, max: 20 }),
});

const flat = (series: Request['series']) => ({ y: series.flat(), sizes: series.map(({ length }) => length) });
const levelOf = (url: Url) => (url.endsWith('anomaly_detection') ? 80 : [80, 95]);

async function answerOf(url: Url, { series, ...request }: Request, more: object = {}) {
  const { status, body } = await ask(app, url, { ...request, series: flat(series), level: levelOf(url), ...more });
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

/** How many numbers there are for a series. */
function lengthOf(url: Url, size: number, { h, n_windows: windows, detection_size: detected }: Request): number {
  switch (url) {
    case '/v2/online_anomaly_detection':
      return detected;
    case '/v2/forecast':
      return h;
    case '/v2/cross_validation':
      return windows * h;
    default:
      return size;
  }
}

test('every list of an answer has the length of its sizes, which follow from the request', async () => {
  await fc.assert(
    fc.asyncProperty(urls, requests, async (url, request) => {
      const answer = await answerOf(url, request);
      const sizes = request.series.map(({ length }) => lengthOf(url, length, request));
      const total = sizes.reduce((sum, size) => sum + size, 0);
      if (url !== '/v2/forecast') assert.deepEqual(answer.sizes, sizes);
      for (const key of ['mean', 'idxs', 'anomaly', 'anomaly_score']) {
        if (key in answer) assert.equal(answer[key].length, total, key);
      }
      for (const bounds of Object.values<unknown[]>(answer.intervals)) assert.equal(bounds.length, total);
      assert.ok(!('data' in answer));
    }),
    { numRuns: 2 * RUNS },
  );
});

test('idxs ascend within a series, end with it, and name the scored or forecast values', async () => {
  const positioned = fc.constantFrom<Url>('/v2/online_anomaly_detection', '/v2/cross_validation');
  await fc.assert(
    fc.asyncProperty(positioned, requests, async (url, request) => {
      const { idxs, sizes } = await answerOf(url, request);
      let [at, start] = [0, 0];
      for (const [i, { length }] of request.series.entries()) {
        const own = idxs.slice(at, at + sizes[i]);
        assert.equal(own.at(-1), start + length - 1);
        assert.ok(own.every((position: number) => position > start && position < start + length));
        at += sizes[i];
        start += length;
      }
    }),
    { numRuns: RUNS },
  );
});

test('intervals of any levels are nested, in any order, with duplicates', async () => {
  const leveled = fc.constantFrom<Url>('/v2/forecast', '/v2/cross_validation', '/v2/historic_forecast');
  const levels = fc.array(
    fc.integer({ min: 1_000, max: 9_999 }).map((level) => level / 100),
    { minLength: 1, maxLength: 8 },
  );
  await fc.assert(
    fc.asyncProperty(leveled, requests, levels, async (url, request, level) => {
      const { intervals, mean } = await answerOf(url, request, { level: [...level, level[0]] });
      const ascending = [...new Set(level)].sort((a, b) => a - b);
      assert.deepEqual(Object.keys(intervals).sort(), ascending.flatMap((of) => [`lo-${of}`, `hi-${of}`]).sort());
      mean.forEach((centre: number | null, k: number) => {
        if (centre === null) return;
        let [lo, hi] = [centre, centre];
        for (const of of ascending) {
          const [below, above] = [intervals[`lo-${of}`][k], intervals[`hi-${of}`][k]];
          // Residuals that are all the same say nothing of a width.
          if (url === '/v2/historic_forecast') assert.ok(below <= lo && above >= hi);
          else assert.ok(below < lo && above > hi, `${of} at ${k}`);
          [lo, hi] = [below, above];
        }
      });
    }),
    { numRuns: RUNS },
  );
});

test('feature contributions add up to the forecast', async () => {
  const exogenous = fc.integer({ min: 1, max: 2 }).chain((count) =>
    fc.record({
      y: values(120),
      X: fc.array(values(120), { minLength: 3, maxLength: 3 }),
      category: fc.array(fc.constantFrom('a', 'b', 'c', null), { minLength: 120, maxLength: 120 }),
      ahead: fc.array(values(10), { minLength: count, maxLength: count }),
      clean_ex_first: fc.boolean(),
      pastOnly: fc.option(fc.constantFrom([0], [1, 2])),
    }),
  );
  const ways = fc.constantFrom('forecast', 'windows', 'history');
  let effects = 0;
  await fc.assert(
    fc.asyncProperty(ways, exogenous, async (way, { y, X, category, ahead, clean_ex_first, pastOnly }) => {
      // Effects that are there: others are left out.
      const moved = y.map((value, i) => (value === null || X[0][i] === null ? value : value + 9 * X[0][i]));
      const series = { y: moved, sizes: [60, 60], X: [...X, category], categorical_exog: [3] };
      const common = { freq: 'D', h: 5, clean_ex_first, feature_contributions: true };
      const asked =
        way === 'forecast'
          ? ask(app, '/v2/forecast', { ...common, series: { ...series, X_future: ahead } })
          : ask(app, '/v2/cross_validation', {
              ...common,
              series,
              n_windows: 2,
              hist_exog: pastOnly,
              full_history: way === 'history',
            });
      const { status, body } = await asked;
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal(body.weights_x.length, 4);
      assert.equal(body.feature_contributions.length, 5);
      body.mean.forEach((mean: number | null, k: number) => {
        if (mean === null) return;
        const parts: number[] = body.feature_contributions.map((row: number[]) => row[k]);
        const size = parts.reduce((sum, part) => sum + Math.abs(part), Math.abs(mean));
        const sum = parts.reduce((at, part) => at + part, 0);
        if (parts[0] !== 0) effects++;
        assert.ok(Math.abs(sum - mean) <= 1e-9 * size, `${sum} is not ${mean}`);
      });
    }),
    { numRuns: RUNS },
  );
  assert.ok(effects > 0, 'no variable added anything');
});

test('the numbers of a series do not depend on other series of the request', async () => {
  await fc.assert(
    fc.asyncProperty(urls, requests, async (url, request) => {
      const whole = await answerOf(url, request);
      const alone = await Promise.all(request.series.map((own) => answerOf(url, { ...request, series: [own] })));
      for (const key of ['mean', 'anomaly', 'anomaly_score']) {
        if (key in whole)
          assert.deepEqual(
            whole[key],
            alone.flatMap((answer) => answer[key]),
            key,
          );
      }
      for (const [key, bounds] of Object.entries(whole.intervals)) {
        const expected = alone.flatMap(({ intervals }) => intervals[key]);
        assert.deepEqual(bounds, expected, key);
      }
    }),
    { numRuns: RUNS },
  );
});

test('truncation by clients does not change forecasts', async () => {
  const cut = fc.constantFrom<Url>('/v2/forecast', '/v2/cross_validation');
  const long = fc.tuple(requests, values(150, 200)).map(([request, own]) => ({ ...request, series: [own] }));
  await fc.assert(
    fc.asyncProperty(cut, long, async (url, request) => {
      const { freq, h, n_windows: windows, step_size: step } = request;
      const params = await app.inject({ url: '/model_params', query: { freq }, headers: AUTHORIZED });
      const span = url === '/v2/forecast' ? 0 : h + (windows - 1) * (step ?? h);
      const [own] = request.series;
      const { input_size: inputSize, horizon } = params.json().detail;
      for (const [level, looked] of [
        [null, inputSize],
        [[80, 95], 3 * inputSize + Math.max(horizon, h)],
      ]) {
        const kept = [own!.slice(-(looked + span))];
        const whole = await answerOf(url, request, { level });
        const ofCut = await answerOf(url, { ...request, series: kept }, { level });
        assert.deepEqual(ofCut.mean, whole.mean);
        assert.deepEqual(ofCut.intervals, whole.intervals);
      }
    }),
    { numRuns: RUNS },
  );
});

test('identical requests have identical bytes, also from another instance and under load', async () => {
  const other = await startApp();
  await fc.assert(
    fc.asyncProperty(urls, requests, async (url, { series, ...request }) => {
      const payload = JSON.stringify({ ...request, series: flat(series), level: levelOf(url) });
      const headers = { ...AUTHORIZED, 'content-type': 'application/json' };
      const sent = { method: 'POST', url, headers, payload } as const;
      const answers = await Promise.all([app.inject(sent), app.inject(sent), other.inject(sent)]);
      const [first, ...others] = answers.map(({ rawPayload }) => rawPayload.toString());
      for (const bytes of others) assert.equal(bytes, first);
    }),
    { numRuns: RUNS },
  );
});
