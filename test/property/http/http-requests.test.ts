import assert from 'node:assert/strict';
import test from 'node:test';
import { Check } from 'typebox/value';
import { frequencyProfile } from '../../../src/api/models/frequency-profile.ts';
import { requestedProfile } from '../../../src/api/tasks/online-detection/online-detection-question.ts';
import { BodyProblems } from '../../../src/api/wire/problem.ts';
import { CrossValidationAnswer, ForecastAnswer } from '../../../src/api/wire/schema/tasks/forecast-schema.ts';
import {
  HistoricForecastAnswer,
  InSampleDetectionAnswer,
} from '../../../src/api/wire/schema/tasks/in-sample-schema.ts';
import { OnlineDetectionAnswer } from '../../../src/api/wire/schema/tasks/online-detection-schema.ts';
import { calendarOf } from '../../../src/config/keys/profile-keys.ts';
import { daysOff } from '../../../src/time/holidays/holiday-list.ts';
import { offsetAt } from '../../../src/time/local-calendar.ts';
import type { SpecialDates } from '../../../src/time/local-times.ts';
import { fc } from '../../fixture/fast-check.ts';
import { ask } from '../../fixture/http/ask.ts';
import { startApp } from '../../fixture/http/http-service.ts';

const app = await startApp();

const ENDPOINTS = {
  '/v2/online_anomaly_detection': OnlineDetectionAnswer,
  '/v2/anomaly_detection': InSampleDetectionAnswer,
  '/v2/historic_forecast': HistoricForecastAnswer,
  '/v2/forecast': ForecastAnswer,
  '/v2/cross_validation': CrossValidationAnswer,
} as const;
const urls = fc.constantFrom(...(Object.keys(ENDPOINTS) as (keyof typeof ENDPOINTS)[]));

const extreme = fc.constantFrom(0, -1, 3.4028235e38, -3.4028235e38, 1e-45, -0);
const observed = fc.oneof(
  { weight: 8, arbitrary: fc.double({ min: -1e6, max: 1e6, noNaN: true }) },
  { weight: 1, arbitrary: extreme },
  { weight: 1, arbitrary: fc.constant(null) },
);

/** Requests that make sense, and some whose parts do not fit each other. */
const requests = fc
  .array(
    fc.oneof(
      { weight: 9, arbitrary: fc.integer({ min: 30, max: 60 }) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 30 }) },
    ),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  .chain((sizes) => {
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const column = (length: number) => fc.array(observed, { minLength: length, maxLength: length });
    const category = fc.array(fc.constantFrom('a', 'b', null), { minLength: total, maxLength: total });
    return fc.record(
      {
        series: fc.record(
          {
            y: column(total),
            sizes: fc.constant(sizes),
            X: fc.oneof(fc.constant(null), fc.tuple(column(total), category), fc.tuple(column(total))),
            categorical_exog: fc.constant([1]),
          },
          { requiredKeys: ['y', 'sizes'] },
        ),
        freq: fc.constantFrom('h', 'D', 'MS', 'nonsense'),
        h: fc.integer({ min: 1, max: 90 }),
        detection_size: fc.integer({ min: 1, max: 30 }),
        step_size: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 40 })),
        n_windows: fc.integer({ min: 1, max: 3 }),
        threshold_method: fc.constantFrom('univariate', 'multivariate'),
        clean_ex_first: fc.boolean(),
        feature_contributions: fc.boolean(),
        full_history: fc.boolean(),
        model: fc.constantFrom('timegpt-1', 'timegpt-2.1', 'tsmodel-1', 'timegpt-1-long-horizon', 'other'),
        hist_exog: fc.constantFrom(null, null, null, [0], [1]),
      },
      { requiredKeys: ['series', 'freq', 'h', 'detection_size'] },
    );
  });

/** Every request is answered with what its schema promises, or refused with the place of what is wrong. */
function assertAnswered(url: keyof typeof ENDPOINTS, { status, body }: Awaited<ReturnType<typeof ask>>): void {
  if (status === 200) {
    assert.equal(Check(ENDPOINTS[url], body), true, JSON.stringify(body));
    return;
  }
  assert.ok([400, 404, 422].includes(status), `${status} ${JSON.stringify(body)}`);
  if (status !== 422) {
    assert.equal(typeof body.detail, 'string');
    return;
  }
  assert.ok(body.detail.length > 0);
  for (const { loc, msg, type } of body.detail) {
    assert.ok(loc[0] === 'body' && typeof msg === 'string' && typeof type === 'string');
  }
}

test('a request is answered or refused with a reason, never with an internal error', async () => {
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(urls, requests, fc.boolean(), async (url, request, leveled) => {
      const level = url.endsWith('anomaly_detection') ? 80 : [80, 95];
      const answer = await ask(app, url, { ...request, ...(leveled ? { level } : {}) });
      assertAnswered(url, answer);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    }),
    { numRuns: 400 },
  );
  assert.ok((statuses.get(200) ?? 0) > 40, JSON.stringify([...statuses]));
});

test('arbitrary JSON is refused without an internal error', async () => {
  const anything = fc.oneof(
    fc.json(),
    fc
      .record({ series: fc.jsonValue(), freq: fc.jsonValue(), h: fc.jsonValue(), level: fc.jsonValue() })
      .map((body) => JSON.stringify(body)),
    fc.string(),
  );
  await fc.assert(
    fc.asyncProperty(urls, anything, async (url, body) => {
      if (body !== '') assertAnswered(url, await ask(app, url, body));
    }),
    { numRuns: 300 },
  );
});

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const PLACES = ['DE-BY', 'VN', 'IL'];
/** As a detectors file has them, of all years. */
const HOLIDAYS = new Map(PLACES.map((place) => [place, daysOff({ place })!]));

const asked = fc.record({
  start: fc.date({ min: new Date('2001-01-01'), max: new Date('2049-06-01'), noInvalidDate: true }),
  size: fc.integer({ min: 48, max: 3_000 }),
  places: fc.uniqueArray(fc.constantFrom(...PLACES), { minLength: 1 }),
  timezone: fc.constantFrom('UTC', 'Pacific/Auckland', 'America/Los_Angeles'),
  special: fc.constantFrom<SpecialDates | null>(null, { dates: ['12-25'], like: 'sat' }),
});

const readerOf = (starts: readonly string[]) => ({
  problems: new BodyProblems(),
  startsMs: starts.map((start) => Date.parse(start)),
  frequency: frequencyProfile('h'),
});

function requested({ start, size, places, timezone, special }: typeof asked extends fc.Arbitrary<infer T> ? T : never) {
  const parameters = { grade: true, timezone, holidays: places, special_days: special && [special] };
  const reader = readerOf([`${start.toISOString().slice(0, 19)}Z`]);
  const profile = requestedProfile(reader, { series: { sizes: [size] }, model_parameters: parameters });
  reader.problems.throwIfAny();
  return profile!;
}

test('the holidays of a request are those of a detector, on every day of its series', () => {
  let seen = 0;
  fc.assert(
    fc.property(asked, (request) => {
      const { settings, startsMs } = requested(request);
      const { timezone, places, special } = request;
      const holidays = places.map((place) => HOLIDAYS.get(place)!);
      const detector = calendarOf({ timezone, holidays, specialDays: special === null ? [] : [special] })!;
      const [ours, theirs] = [settings.calendar, detector].map(({ specialDays }) => new Map(specialDays));
      assert.deepEqual(settings.calendar.offsets, detector.offsets);
      for (let hour = 0; hour < request.size; hour++) {
        const ms = startsMs[0] + hour * HOUR_MS;
        const day = Math.floor((ms + offsetAt(detector, ms)) / DAY_MS);
        assert.equal(ours.get(day), theirs.get(day), new Date(ms).toISOString());
        if (theirs.has(day)) seen++;
      }
    }),
    { numRuns: 60 },
  );
  assert.ok(seen > 0, 'no series had a holiday');
});

test('holidays are resolved for the years of the series alone, not for those between them', () => {
  const reader = readerOf(['2001-06-01T00:00:00Z', '9999-06-01T00:00:00Z']);
  const asked = { series: { sizes: [48, 48] }, model_parameters: { grade: true, holidays: PLACES } };
  const { specialDays } = requestedProfile(reader, asked)!.settings.calendar;
  assert.ok(specialDays.length > 0);
  for (const [day] of specialDays) assert.equal(new Date(day * DAY_MS).getUTCFullYear(), 2001);
});
