import assert from 'node:assert/strict';
import test from 'node:test';
import { frequencyProfile } from '../../../../../src/api/models/frequency-profile.ts';
import { modelParams, type ServedModel } from '../../../../../src/api/models/served-models.ts';
import { parseTimestamp, RequestReader } from '../../../../../src/api/tasks/series/request-reader.ts';
import type { FieldProblem, HttpProblem } from '../../../../../src/api/wire/problem.ts';
import { type RolledOutForecaster, rollOut } from '../../../../../src/forecasting/autoregressive-roll-out.ts';
import { quantileForecaster } from '../../../../fixture/http/http-service.ts';
import { groupForecaster, MEMBERS_MAX } from '../../../../fixture/models/group-forecaster.ts';

function served(name: string, forecaster: RolledOutForecaster, seasons = 1): ServedModel {
  return { name, forecaster, seasons, tunable: null };
}

const together = served('tsmodel-2.1', rollOut(groupForecaster()));
const alone = served('tsmodel-1', rollOut(quantileForecaster()));

function request(sizes: number[], starts?: string[] | null, freq = 'h') {
  const length = sizes.reduce((sum, size) => sum + size, 0);
  const series = { y: new Float64Array(length), sizes, ...(starts !== undefined && { start_datetime: starts }) };
  return { series, freq, multivariate: true };
}

const readerOf = (asked: ReturnType<typeof request>, model: ServedModel) =>
  new RequestReader(asked, { names: [model.name], find: () => model });
const align = (asked: ReturnType<typeof request>, model: ServedModel) => readerOf(asked, model).question().offsets;

/** The problems of a request that is refused. */
function refused(asked: ReturnType<typeof request>, model: ServedModel): FieldProblem[] {
  try {
    readerOf(asked, model).question();
  } catch (error) {
    return (error as HttpProblem).body.detail as FieldProblem[];
  }
  throw new Error('it is not refused');
}

test('times are ISO 8601, in UTC by default', () => {
  const noon = Date.UTC(2026, 0, 31, 12);
  for (const text of [
    '2026-01-31T12',
    '2026-01-31 12:00',
    '2026-01-31T12:00:00Z',
    '2026-01-31T12:00:00.000000000',
    '2026-01-31T14:00+0200',
    '2026-01-31T10:00:00-02:00',
  ]) {
    assert.equal(parseTimestamp(text), noon, text);
  }
  assert.equal(parseTimestamp('2026-01-31'), Date.UTC(2026, 0, 31));
  assert.equal(parseTimestamp('2026-02'), Date.UTC(2026, 1, 1));
  for (const text of ['', 'yesterday', '31.01.2026', '2026-13-01', '2026-01-31T25:00']) {
    assert.equal(parseTimestamp(text), null, text);
  }
});

test('start times on the grid of the frequency align series', () => {
  const days = request([5, 5], ['2026-01-03', '2026-01-01'], 'D');
  assert.deepEqual(align(days, together), [2, 0]);
  const hours = request([5, 5], ['2026-01-01T06:00:00', '2026-01-01T00:00:00+02:00']);
  assert.deepEqual(align(hours, together), [8, 0]);
  const months = request([5, 5], ['2025-11-30', '2026-02-28'], 'ME');
  assert.deepEqual(align(months, together), [0, 3]);
});

test('without start times, or a grid, series end together', () => {
  assert.deepEqual(align(request([5, 3]), together), [0, 2]);
  assert.deepEqual(align(request([5, 3], null), together), [0, 2]);
  assert.deepEqual(align(request([5, 3], ['2026-01-03', '2026-01-01'], 'cbh'), together), [0, 2]);
});

test('univariate models and requests are not aligned', () => {
  assert.equal(align(request([5, 3]), alone), undefined);
  assert.equal(align({ ...request([5, 3]), multivariate: false }, together), undefined);
  assert.equal(align(request([5, 3], ['no time', 'none']), alone), undefined);
});

test('problems of alignment name their fields', () => {
  const crowd = request(new Array(MEMBERS_MAX + 1).fill(2));
  assert.match(refused(crowd, together)[0].msg, /5 series cannot be forecast together: at most 4/);
  const fields = refused(request([5, 3], ['2026-01-01', 'no time']), together);
  const actual = fields.map(({ loc }) => loc.join('.'));
  assert.deepEqual(actual, ['body.series.start_datetime.1']);
});

test('the long-horizon model takes five weeks of hours to forecast one', () => {
  const { limits, ...forecaster } = quantileForecaster();
  const long = rollOut({ ...forecaster, limits: { ...limits, context: 1024, horizonMax: 192 } });
  const params = (freq: string) => modelParams(served('long', long, 7), frequencyProfile(freq));
  assert.deepEqual(params('h'), { inputSize: 840, horizon: 168 });
  assert.deepEqual(params('D'), { inputSize: 245, horizon: 49 });
  assert.deepEqual(params('W'), { inputSize: 1024, horizon: 192 });
});
