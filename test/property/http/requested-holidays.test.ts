import assert from 'node:assert/strict';
import test from 'node:test';
import { frequencyProfile } from '../../../src/api/models/frequency-profile.ts';
import { requestedProfile } from '../../../src/api/tasks/online-detection/detection-profile.ts';
import { BodyProblems } from '../../../src/api/wire/problem.ts';
import { calendarOf } from '../../../src/config/keys/profile-keys.ts';
import { daysOff } from '../../../src/time/holidays/holiday-list.ts';
import { offsetAt } from '../../../src/time/local-calendar.ts';
import type { SpecialDates } from '../../../src/time/special-days.ts';
import { fc } from '../../fixture/fast-check.ts';

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
