import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Check } from 'typebox/value';
import { detectOnline } from '../../../src/api/tasks/online-detection/online-detection-run.ts';
import { BodyBudget } from '../../../src/api/wire/body/body-budget.ts';
import type { FieldProblem } from '../../../src/api/wire/problem.ts';
import { OnlineDetectionAnswer } from '../../../src/api/wire/schema/tasks/online-detection-schema.ts';
import { ServiceError } from '../../../src/ops/service-error.ts';
import { ask as post } from '../../fixture/http/ask.ts';
import { AUTHORIZED, quantileForecaster, startApp } from '../../fixture/http/http-service.ts';
import { arithmeticForecaster } from '../../fixture/models/arithmetic-forecaster.ts';

const URL = '/v2/online_anomaly_detection';
const app = await startApp();

async function ask(fields: object) {
  const { status, body } = await post(app, URL, {
    freq: 'h',
    h: 4,
    detection_size: 6,
    model: 'timegpt-2.1',
    ...fields,
  });
  return { status, body };
}

const wave = (length: number, phase = 0) =>
  Array.from({ length }, (_, i) => 10 + Math.sin((i + phase) / 3) + ((i * 7919) % 13) / 20);
const a = wave(120);
const b = wave(90, 1);
b[85] = 100;
const both = { y: [...a, ...b], sizes: [120, 90] };

test('the end of each series is scored, with its positions in the flat values', async () => {
  const { status, body } = await ask({ series: both });
  assert.equal(status, 200);
  assert.equal(Check(OnlineDetectionAnswer, body), true);
  assert.deepEqual(body.sizes, [6, 6]);
  assert.deepEqual(body.idxs, [114, 115, 116, 117, 118, 119, 204, 205, 206, 207, 208, 209]);
  for (const key of ['mean', 'anomaly', 'anomaly_score']) assert.equal(body[key].length, 12, key);
  assert.deepEqual(Object.keys(body.intervals), ['lo-99', 'hi-99']);
  assert.equal(body.anomaly[6 + 1], true);
  assert.ok(body.anomaly_score[7] > 2.5);
  assert.equal('accumulated_anomaly_score' in body, false);
  assert.equal('data' in body, false);
  assert.deepEqual([body.input_tokens, body.output_tokens, body.finetune_tokens], [210, 60, 0]);
});

test('scores are those of online detection, and points outside the interval are flagged', async () => {
  for (const options of [{}, { h: 3, step_size: 2, detection_size: 5 }, { h: 8, step_size: 11, detection_size: 2 }]) {
    const { body } = await ask({ series: { y: b, sizes: [90] }, level: 90, ...options });
    const { h = 4, step_size: stepSize = h, detection_size: detectionSize = 6 } = options;
    const settings = { h, stepSize, detectionSize, level: 90, thresholdMethod: 'univariate', context: 64 } as const;
    const [whole] = await detectOnline({
      series: [b],
      settings: { ...settings, calibration: 'plain', calibrationSize: 'all', alarmRate: null },
      forecaster: arithmeticForecaster(),
    });
    assert.deepEqual(body.mean, JSON.parse(JSON.stringify(Array.from(whole!.forecast))));
    assert.deepEqual(body.anomaly_score, JSON.parse(JSON.stringify(Array.from(whole!.score))));
    body.anomaly.forEach((flag: boolean, i: number) => {
      const y = b[body.idxs[i]];
      assert.equal(flag, body.mean[i] !== null && (y < body.intervals['lo-90'][i] || y > body.intervals['hi-90'][i]));
    });
  }
});

test('interval keys use the literal of the level', async () => {
  for (const text of ['99.0', '99.99', '0', '5e1']) {
    const payload = JSON.stringify({ series: { y: a, sizes: [120] }, freq: 'h', h: 4, detection_size: 6 });
    const { body } = await post(app, URL, payload.replace(/}$/, `,"level":${text}}`));
    assert.deepEqual(Object.keys(body.intervals), [`lo-${text}`, `hi-${text}`]);
  }
});

test('a missing value has no score and no flag', async () => {
  const y: (number | null)[] = [...a];
  y[117] = null;
  y[60] = null;
  const { body } = await ask({ series: { y, sizes: [120] } });
  assert.equal(body.anomaly_score[3], null);
  assert.equal(body.anomaly[3], false);
  assert.equal(typeof body.mean[3], 'number');
});

test('infinities arrive as the largest float32 and are outliers', async () => {
  const y = [...a];
  y[10] = -3.4028235e38;
  y[11] = 3.4028235e38;
  y[118] = 3.4028235e38;
  const { status, body } = await ask({ series: { y, sizes: [120] }, h: 1 });
  assert.equal(status, 200);
  assert.equal(body.mean.length, 6);
});

test('the multivariate threshold scores time steps: one score for all series, no intervals', async () => {
  const other = wave(120, 2);
  const y = [...a, ...other];
  y[118] = 40;
  const { body } = await ask({ series: { y, sizes: [120, 120] }, threshold_method: 'multivariate' });
  assert.equal(Check(OnlineDetectionAnswer, body), true);
  assert.equal(body.intervals, null);
  assert.deepEqual(body.accumulated_anomaly_score.slice(0, 6), body.accumulated_anomaly_score.slice(6));
  assert.deepEqual(body.anomaly.slice(0, 6), body.anomaly.slice(6));
  assert.equal(body.anomaly[4], true);
});

test('a horizon beyond one pass of the model is rolled out', async () => {
  const { status, body } = await ask({ series: { y: wave(300), sizes: [300] }, h: 100, detection_size: 100 });
  assert.equal(status, 200);
  assert.ok(body.mean.every((value: unknown) => typeof value === 'number'));
});

test('all inconsistencies are reported at once', async () => {
  const { status, body } = await ask({
    series: { y: a, sizes: [20, 90], X: [[1, 2]], categorical_exog: [1] },
    model: 'unheard-of',
    finetune_steps: 1_001,
    h: 10,
    threshold_method: 'multivariate',
  });
  assert.equal(status, 422);
  const places = body.detail.map(({ loc }: { loc: unknown[] }) => loc.join('.'));
  assert.deepEqual(places, [
    'body.series.sizes',
    'body.series.X.0',
    'body.series.categorical_exog.0',
    'body.finetune_steps',
    'body.series.sizes.0',
    'body.series.sizes',
    'body.model',
  ]);
});

test('out-of-range fields are reported with their locations', async () => {
  const { status, body } = await ask({ series: { y: a, sizes: [120, 0] }, h: 0, detection_size: 1.5, level: 100 });
  assert.equal(status, 422);
  const places = body.detail.map(({ loc, type }: { loc: unknown[]; type: string }) => `${loc.join('.')} ${type}`);
  assert.deepEqual(places.sort(), [
    'body.detection_size int_from_float',
    'body.h greater_than',
    'body.level less_than',
    'body.series.sizes.1 greater_than',
  ]);
});

test('a rate of false alarms that means nothing is refused, not replaced by the default', async () => {
  for (const rate of ['0/week', '0.0/day', '1234567/week', '1/weeks', '-1/day', '']) {
    const parameters = { grade: true, false_alarms: rate };
    const { status } = await ask({ series: { y: a, sizes: [120] }, model_parameters: parameters });
    assert.equal(status, 422, rate);
  }
  for (const rate of ['off', '1/week', '0.5/day', '10/month', '0.000001/year']) {
    const parameters = { grade: true, false_alarms: rate };
    const { status } = await ask({ series: { y: a, sizes: [120] }, model_parameters: parameters });
    assert.equal(status, 200, rate);
  }
});

test('events that reach into the scored values are given on request, with places in their series', async () => {
  const quiet = wave(120);
  const late = wave(120, 2);
  late[116] = 60;
  const early = wave(120, 4);
  early[60] = 60;
  const series = { y: [...quiet, ...late, ...early], sizes: [120, 120, 120] };
  const { body } = await ask({ series, model_parameters: { events: true } });
  assert.equal(Check(OnlineDetectionAnswer, body), true);
  assert.equal('grade' in body, false);
  assert.equal(body.events.length, 1);
  const [{ summary, severity, grade, expected, end, alarms, direction: _, ...event }] = body.events;
  assert.deepEqual(event, {
    series: 1,
    kind: 'spike',
    open: true,
    start: 116,
    first_alarm: 116,
    peak: 116,
    last_alarm: 116,
    value: 60,
    unusual: 'highest in 4 days',
    members: [],
  });
  assert.ok(end >= 116 && end < 120 && alarms > 0);
  assert.match(summary, /^Spike: 60 where [\d.]+ was expected, highest in 4 days, for 1 hour, recovering$/);
  for (const number of [severity, grade, expected]) assert.equal(typeof number, 'number');
});

test('all series together have events of their own, with the share of each', async () => {
  const [first, second] = [wave(120), wave(120, 2)];
  second[116] = 60;
  const series = { y: [...first, ...second], sizes: [120, 120] };
  const { body } = await ask({ series, threshold_method: 'multivariate', model_parameters: { events: true } });
  assert.equal(Check(OnlineDetectionAnswer, body), true);
  const [{ series: index, members, value }] = body.events;
  assert.deepEqual([index, members[0].series, value], [null, 1, 60]);
  assert.ok(members[0].share > 0.5);
});

test('an unknown fine-tuned model gets 404', async () => {
  const { status, body } = await ask({ series: both, finetuned_model_id: 'mine' });
  assert.deepEqual([status, body], [404, { detail: 'Finetuned model not found' }]);
});

test('the budget of a body is released once its request is answered', async () => {
  const bodies = new BodyBudget(800_000_000);
  const counted = await startApp(quantileForecaster(), { bodies });
  await post(counted, '/v2/online_anomaly_detection', { series: both, freq: 'h', h: 4, detection_size: 6 });
  await post(counted, '/v2/online_anomaly_detection', { series: both, freq: 'h' });
  assert.equal(bodies.held, 0);
});

test('a full forecast queue gets 503 with Retry-After', async () => {
  const forecaster = {
    ...quantileForecaster(),
    forecast: () => Promise.reject(new ServiceError('overloaded', 'the queue is full', { retryable: true })),
  };
  const { status, headers, body } = await post(await startApp(forecaster), '/v2/online_anomaly_detection', {
    series: both,
    freq: 'h',
    h: 4,
    detection_size: 6,
  });
  assert.equal(status, 503);
  assert.match(String(headers['retry-after']), /^\d+$/);
  assert.equal(typeof body.detail, 'string');
});

test('a request whose client disconnected stops computing', async () => {
  const { promise: asked, resolve: onAsked } = Promise.withResolvers<AbortSignal | undefined>();
  const forecaster = {
    ...quantileForecaster(),
    forecast: (_: unknown, signal?: AbortSignal) => {
      onAsked(signal);
      return new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    },
  };
  const bodies = new BodyBudget(800_000_000);
  const listening = await startApp(forecaster, { bodies });
  const url = `${await listening.listen({ port: 0 })}/v2/online_anomaly_detection`;
  const hangUp = new AbortController();
  const body = JSON.stringify({ series: both, freq: 'h', h: 4, detection_size: 6 });
  const headers = { ...AUTHORIZED, 'content-type': 'application/json' };
  const answer = fetch(url, { method: 'POST', headers, body, signal: hangUp.signal });
  const signal = await asked;
  assert.equal(signal?.aborted, false);
  assert.equal(bodies.held, body.length);
  const aborted = new Promise((resolve) => signal?.addEventListener('abort', resolve));
  hangUp.abort();
  await assert.rejects(answer);
  await aborted;
  assert.equal(bodies.held, 0, 'what the body held is given back');
  await listening.close();
});

test('holidays are those of places that are known', async () => {
  const series = { y: a, sizes: [120], start_datetime: ['2026-05-12'] };
  const known = await ask({
    series,
    model_parameters: { grade: true, holidays: ['DE-BY-KATH', { place: 'SE', types: ['bank'], like: 'sat' }] },
  });
  assert.deepEqual([known.status, known.body.profile], [200, true]);
  const unknown = await ask({ series, model_parameters: { grade: true, holidays: ['AT', 'XX'] } });
  assert.equal(unknown.status, 422);
  assert.deepEqual(unknown.body.detail[0].loc, ['body', 'model_parameters', 'holidays', 1]);
  for (const [wrong, field] of [
    ['d', 1],
    [7, 1],
    [{ types: ['bank'] }, 'place'],
    [{ place: 'SE', types: ['school'] }, 0],
    [{ place: 'SE', like: 'sunday' }, 'like'],
    [{ place: 'SE', liek: 'sun' }, 'liek'],
  ]) {
    const { status, body } = await ask({ series, model_parameters: { holidays: ['AT', wrong] } });
    assert.deepEqual([status, body.detail.length, body.detail[0].loc.at(-1)], [422, 1, field], JSON.stringify(wrong));
  }
  const many = await ask({ series, model_parameters: { holidays: ['AT', 'DE', 'US', 'FR', 'IT'] } });
  assert.equal(many.status, 422);
});

test('long memories judge a group whose series have one start', async () => {
  const model_parameters = { grade: true, events: true };
  for (const [starts, isJudged] of [
    [['2026-05-12', '2026-05-12'], true],
    [['2026-05-12', '2026-05-13'], false],
  ] as const) {
    const series = { y: [...a, ...a], sizes: [120, 120], start_datetime: starts };
    const { status, body } = await ask({ series, threshold_method: 'multivariate', model_parameters });
    assert.deepEqual([status, body.profile], [200, isJudged]);
  }
});

test('special days choose which days of a series are judged like others, and each of their problems has its place', async () => {
  const series = { y: wave(24 * 40), sizes: [24 * 40], start_datetime: ['2026-03-01T00:00:00'] };
  const asked = (special_days: unknown) => ask({ series, model_parameters: { grade: true, special_days } });
  const plain = await asked(null);
  const special = await asked([
    { dates: ['2026-03-20', '04-08'], like: 'sun' },
    { dates: ['12-24'], like: 'sat' },
  ]);
  assert.deepEqual([plain.status, special.status, special.body.profile], [200, 200, true]);
  const problems = async (written: unknown) => {
    const { status, body } = await asked(written);
    assert.equal(status, 422);
    return body.detail.map(({ loc, msg }: FieldProblem) => `${loc.slice(3).join('.')}: ${msg}`);
  };
  assert.match(
    (
      await problems([
        { dates: ['12-24'], like: 'sat' },
        { dates: ['01-01', '12-24'], like: 'sun' },
      ])
    ).join(),
    /^1\.dates\.1: Value error, 12-24 must be a date of one entry, and is in special_days\.0, too$/,
  );
  assert.deepEqual(await problems([{ dates: ['12-24'], like: 'sat' }, { dates: [5] }, 'sun']), [
    '1.like: Field required',
    '1.dates.0: Input should be a valid string',
    '2: Input should be a valid dictionary or object to extract fields from',
  ]);
  assert.match((await problems([{ dates: ['02-30'], like: 'sat' }])).join(), /^0\.dates\.0: .* must be a date such as/);
  const entry = { dates: ['12-24'], like: 'sat' };
  assert.match((await problems(Array(5_000).fill(entry))).join(), /at most 1000 items after validation, not 5000$/);
  assert.match(
    (await problems([{ ...entry, dates: Array(4_000).fill('12-24') }])).join(),
    /^0\.dates: .*at most 1000 items after validation, not 4000$/,
  );
});

test('regression: an empty time zone is refused as any other that there is not', async () => {
  const series = { y: a, sizes: [120], start_datetime: ['2026-05-12'] };
  const special_days = [{ dates: ['12-24'], like: 'sat' }];
  for (const timezone of ['', ' ', 'Berlin']) {
    const { status, body } = await ask({ series, model_parameters: { grade: true, timezone, special_days } });
    const [{ loc, msg }] = body.detail as FieldProblem[];
    assert.deepEqual([status, loc.join('.')], [422, 'body.model_parameters.timezone'], JSON.stringify(timezone));
    assert.match(msg, /must be a time zone such as Europe\/Berlin or UTC/);
  }
});

test('a frequency that is not known is warned of, and refused where grades or events need its step', async () => {
  const series = { y: a, sizes: [120] };
  const warned = async (freq: string) => {
    const payload = { freq, h: 4, detection_size: 6, series };
    const { statusCode, headers } = await app.inject({ method: 'POST', url: URL, payload, headers: AUTHORIZED });
    return [statusCode, headers.warning ?? null];
  };
  assert.deepEqual(await warned('cbh'), [200, null]);
  for (const freq of ['zz', '<DateOffset: days=2>', '', '\r\nx: 1']) {
    const [status, warning] = await warned(freq);
    assert.equal(status, 200);
    assert.match(String(warning), /^299 tidewatch "freq is no alias of a frequency that is known: a season of 24/);
  }
  for (const freq of ['zz', 'cbh', '']) {
    for (const wish of ['grade', 'events']) {
      const { status, body } = await ask({ freq, series, model_parameters: { [wish]: true } });
      assert.deepEqual([status, body.detail?.[0].loc], [422, ['body', 'freq']], `${freq} ${wish}`);
    }
  }
});

test('a calibration size beyond the series is the series: it takes no memory of its own', async () => {
  const series = { y: a, sizes: [120] };
  const sized = async (calibration_size: number) => {
    const { status, body } = await ask({ series, model_parameters: { grade: true, calibration_size } });
    assert.equal(status, 200);
    return body;
  };
  const whole = await sized(120);
  for (const size of [121, 5_000_000_000, 1e308]) assert.deepEqual(await sized(size), whole, String(size));
});
