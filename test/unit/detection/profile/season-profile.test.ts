import assert from 'node:assert/strict';
import test from 'node:test';
import { NO_VERDICT } from '../../../../src/detection/alarm/alarm.ts';
import {
  continueProfile,
  emptyProfile,
  keptProfile,
  PROFILE_FLOATS,
  type ProfileState,
  profileLayout,
} from '../../../../src/detection/profile/profile-layout.ts';
import { judgeSeason } from '../../../../src/detection/profile/season-alarm.ts';
import { explainedByProfile, trackSeason } from '../../../../src/detection/profile/season-verdict.ts';
import { type LocalCalendar, UTC_CALENDAR, zoneOffsets } from '../../../../src/time/local-calendar.ts';
import { seededRandom } from '../../../fixture/seeded-random.ts';
import { whiteNoise } from '../../../fixture/stream/backtest.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A Monday. */
const START_MS = Date.UTC(2026, 2, 2);

function fresh({ calendar = UTC_CALENDAR as LocalCalendar, stepMs = HOUR_MS / 4 } = {}): ProfileState {
  return emptyProfile(profileLayout(calendar, stepMs)!);
}

/** Busy from 9 to 17 h on weekdays, by the clock of a distance from UTC. */
function officeAt(ms: number, offsetMs = 0): number {
  const local = ms + offsetMs - START_MS;
  const hour = (local % DAY_MS) / HOUR_MS;
  const isBusy = Math.floor(local / DAY_MS) % 7 < 5 && hour >= 9 && hour < 17;
  return (isBusy ? 1_000 : 200) + noiseAt(ms) / 10;
}

/** A little that differs from value to value. */
const noiseAt = (ms: number) => ((ms / 60_000) * 7_919) % 101;

interface Fed {
  readonly days: number;
  readonly fromDay?: number;
  readonly valueAt?: (ms: number) => number;
}

/** Returns what the profile says of each value. */
function feed(state: ProfileState, { days, fromDay = 0, valueAt = officeAt }: Fed) {
  const verdicts = [];
  const endMs = START_MS + (fromDay + days) * DAY_MS;
  for (let ms = START_MS + fromDay * DAY_MS; ms < endMs; ms += state.layout.stepMs) {
    verdicts.push(trackSeason(state, ms, valueAt(ms), 0));
  }
  return verdicts;
}

/** What was expected at an hour of a day, among verdicts of every quarter of an hour. */
const expectedAt = (verdicts: ReturnType<typeof feed>, day: number, hour: number) => {
  return verdicts[4 * (day * 24 + hour)]?.expected ?? Number.NaN;
};

const largest = (verdicts: ReturnType<typeof feed>) => Math.max(...verdicts.map((each) => each?.unusual ?? 0));

test('a profile speaks after 14 days, of what it expects at this hour of the week', () => {
  const state = fresh();
  assert.ok(feed(state, { days: 14 }).every((verdict) => verdict === null));
  const fifteenth = feed(state, { days: 7, fromDay: 14 });
  assert.ok(fifteenth.every((verdict) => verdict !== null));
  assert.ok(Math.abs(expectedAt(fifteenth, 0, 12) - 1_005) < 20, 'Monday noon');
  assert.ok(Math.abs(expectedAt(fifteenth, 5, 12) - 205) < 20, 'Saturday noon');
});

test('the deviation of a profile is that of single values, also where steps are short', () => {
  const noise = whiteNoise(3);
  const state = fresh({ stepMs: HOUR_MS / 12 });
  const daily = (ms: number) => 100 + 40 * Math.sin((2 * Math.PI * ms) / DAY_MS) + 3 * noise();
  feed(state, { days: 14, valueAt: daily });
  const verdicts = feed(state, { days: 7, fromDay: 14, valueAt: daily }).filter((verdict) => verdict !== null);
  const inside = verdicts.filter(({ isUsual }) => isUsual).length / verdicts.length;
  const mean = verdicts.reduce((sum, { deviation }) => sum + deviation, 0) / verdicts.length;
  assert.ok(Math.abs(mean - 3) < 0.5, `deviation ${mean}`);
  assert.ok(inside > 0.9, `${inside} of the values within two deviations`);
});

test('a weekday like a Sunday is unusual, and a Sunday like a Monday; the days behind them are not', () => {
  const state = fresh();
  feed(state, { days: 21 });
  const usual = feed(state, { days: 7, fromDay: 21 });
  assert.ok(largest(usual) < 5, `usual days: ${largest(usual)}`);
  assert.ok(usual.every((verdict) => verdict!.isUsual));
  const quiet = feed(state, { days: 1, fromDay: 28, valueAt: (ms) => 200 + noiseAt(ms) / 10 });
  assert.ok(largest(quiet) > 20, `Monday like a Sunday: ${largest(quiet)}`);
  assert.ok(largest(feed(state, { days: 5, fromDay: 29 })) < 7);
  const busy = feed(state, { days: 1, fromDay: 34, valueAt: (ms) => officeAt(ms - 6 * DAY_MS) });
  assert.ok(largest(busy) > 20, `Sunday like a Monday: ${largest(busy)}`);
});

for (const [name, unit, level] of [
  ['tiny values', 1e-12, 0],
  ['huge values', 1e15, 0],
  ['values far from zero', 1, 1e9],
] as const) {
  test(`a profile expects the same of ${name}`, () => {
    const state = fresh();
    const verdicts = feed(state, { days: 21, valueAt: (ms) => level + unit * officeAt(ms) });
    const noon = expectedAt(verdicts, 14, 12);
    assert.ok(Math.abs(noon - level - unit * 1_005) < 20 * unit, String(noon));
  });
}

test('a first slot that is tiny relative to what follows costs no digits', () => {
  const state = fresh();
  const verdicts = feed(state, {
    days: 28,
    valueAt: (ms) => (ms < START_MS + 2 * HOUR_MS ? (ms - START_MS) / 1e12 : 1e6 * officeAt(ms)),
  });
  assert.ok(Math.abs(expectedAt(verdicts, 21, 12) - 1.005e9) < 2e7);
});

test('a random walk is not explained by hours and weekdays', () => {
  const [walk, random] = [fresh(), seededRandom(7)];
  let level = 0;
  const verdicts = feed(walk, { days: 60, valueAt: () => (level += random() - 0.5) });
  assert.ok(verdicts.every((verdict) => verdict === null));
});

test('a clock that is a little off moves no value to another slot', () => {
  const [exact, late] = [fresh({ stepMs: HOUR_MS }), fresh({ stepMs: HOUR_MS })];
  feed(exact, { days: 21 });
  for (let ms = START_MS; ms < START_MS + 21 * DAY_MS; ms += HOUR_MS) {
    trackSeason(late, ms + (ms % 7) * 60_000 - 180_000, officeAt(ms), 0);
  }
  assert.deepEqual(late.halves, exact.halves);
});

test('hours are those of the clock of the place, also after it has changed', () => {
  const offsets = zoneOffsets('Europe/Berlin');
  const changeMs = Date.UTC(2026, 2, 29, 1);
  const byClock = (ms: number) => officeAt(ms, ms < changeMs ? HOUR_MS : 2 * HOUR_MS);
  const local = fresh({ calendar: { offsets, specialDays: [] } });
  feed(local, { days: 26, valueAt: byClock });
  assert.ok(largest(feed(local, { days: 9, fromDay: 26, valueAt: byClock })) < 5);
  const utc = fresh();
  feed(utc, { days: 26, valueAt: byClock });
  assert.ok(largest(feed(utc, { days: 9, fromDay: 26, valueAt: byClock })) > 7);
});

test('a special day is judged like the weekday that it resembles, and the days behind it are as usual', () => {
  const day = START_MS / DAY_MS + 28;
  const holiday = (ms: number) => (Math.floor(ms / DAY_MS) === day ? 200 + noiseAt(ms) / 10 : officeAt(ms));
  const knowing = fresh({ calendar: { offsets: [], specialDays: [[day, 6]] } });
  feed(knowing, { days: 28 });
  assert.ok(largest(feed(knowing, { days: 7, fromDay: 28, valueAt: holiday })) < 5);
  const unknowing = fresh();
  feed(unknowing, { days: 28 });
  assert.ok(largest(feed(unknowing, { days: 7, fromDay: 28, valueAt: holiday })) > 20);
});

test('a profile that continues by another clock keeps its hours', () => {
  const earlier = fresh();
  feed(earlier, { days: 21 });
  const later = fresh({ calendar: { offsets: [[0, 5 * HOUR_MS]], specialDays: [] } });
  assert.ok(continueProfile(keptProfile(earlier), later, START_MS + 21 * DAY_MS));
  const verdicts = feed(later, { days: 7, fromDay: 21 });
  assert.ok(verdicts.every((verdict) => verdict !== null));
  assert.ok(largest(verdicts) < 5, String(largest(verdicts)));
  assert.ok(!continueProfile(earlier, fresh({ stepMs: 2 * HOUR_MS }), START_MS));
});

test('steps of up to 12 hours have a profile of slots that divide the day', () => {
  const slots = [60_000, HOUR_MS, 1.5 * HOUR_MS, 5 * HOUR_MS, 12 * HOUR_MS].map((stepMs) => {
    return profileLayout(UTC_CALENDAR, stepMs)?.daySlots;
  });
  assert.deepEqual(slots, [24, 24, 12, 4, 2]);
  for (const stepMs of [13 * HOUR_MS, DAY_MS, 7 * DAY_MS]) assert.equal(profileLayout(UTC_CALENDAR, stepMs), null);
});

test('values that stay until midnight before a weekend are what their hour always shows', () => {
  const stepMs = HOUR_MS / 12;
  const state = fresh({ stepMs });
  const noise = whiteNoise(7);
  let evenings = 0;
  for (let row = 0; row * stepMs < 5 * 7 * DAY_MS; row++) {
    const day = Math.floor((row * stepMs) / DAY_MS);
    const season = trackSeason(state, START_MS + row * stepMs, (day % 7 < 5 ? 100 : 50) + noise(), 0);
    if (season === null) continue;
    assert.ok(season.unusual < 5, `${season.unusual} deviations on day ${day}`);
    if (day % 7 === 4 && row % (24 * 12) >= 23.5 * 12) {
      assert.ok(Math.abs(season.expected - 100) < 5, `${season.expected} was expected of ${season.timestampMs}`);
      evenings++;
    }
  }
  assert.ok(evenings >= 3 * 6);
});

/** Values in weeks from START_MS, with the verdicts on them. */
function verdictsOf(valueAt: (ms: number) => number, days: number, stepMs = HOUR_MS / 4) {
  const state = fresh({ stepMs });
  const shown = feed(state, { days, valueAt: (ms) => valueAt(ms - START_MS) });
  const known = (verdict: (typeof shown)[number]) => verdict ?? assert.fail('the profile is mature');
  const from = (day: number, hour: number) => shown.slice((day * DAY_MS + hour * HOUR_MS) / stepMs).map(known);
  return from;
}

const dayOf = (ms: number) => Math.floor(ms / DAY_MS);
const hourOf = (ms: number) => (ms % DAY_MS) / HOUR_MS;
/** Between -1 and 1. */
const relativeNoise = (ms: number) => noiseAt(ms) / 50 - 1;
const opened = (ms: number) => dayOf(ms) % 7 < 5 && hourOf(ms) >= 8 && hourOf(ms) < 18;
const openCounts = (ms: number) => (opened(ms) ? Math.round(300 * (1 + 0.05 * relativeNoise(ms))) : 0);

test('exact zeros at weekends are usual there, and excuse no outage on a weekday', () => {
  const outage = (ms: number) => (dayOf(ms) === 85 && hourOf(ms) >= 9 && hourOf(ms) < 12 ? 0 : openCounts(ms));
  const from = verdictsOf(outage, 86);
  const clean = from(14, 0).slice(0, 71 * 96);
  assert.ok(clean.every((verdict) => verdict.unusual < 7));
  const [first, second] = from(85, 9);
  assert.ok(!first.isUsual && !second.isUsual && second.unusual > 7);
});

test('what varies on weekdays excuses nothing on a day that is always closed', () => {
  const intruded = (ms: number) => (dayOf(ms) === 61 && hourOf(ms) === 10 ? 30 : openCounts(ms));
  assert.equal(verdictsOf(intruded, 62)(61, 10)[0].isUsual, false);
});

test('a profile that begins with hours of rest learns how far values lie off', () => {
  const from = verdictsOf((ms) => openCounts(ms + 5 * DAY_MS), 40);
  assert.ok(from(16, 0).every((verdict) => verdict.unusual < 7));
});

const weeklyJob = (ms: number) => {
  const isJob = dayOf(ms) % 7 === 2 && hourOf(ms) >= 3 && hourOf(ms) < 4;
  return (isJob ? 500 : 20) * (1 + 0.05 * relativeNoise(ms));
};

test('a weekly job is usual from its third week on; missing or doubled it is not', () => {
  const from = verdictsOf(weeklyJob, 7 * 12);
  for (let week = 3; week < 12; week++) {
    assert.ok(
      from(7 * week + 2, 2)
        .slice(0, 16)
        .every((verdict) => verdict.isUsual && verdict.unusual < 5),
    );
  }
  for (const factor of [0.04, 2]) {
    const changed = verdictsOf((ms) => weeklyJob(ms) * (dayOf(ms) === 72 && hourOf(ms) === 3 ? factor : 1), 73);
    assert.ok(
      changed(72, 3)
        .slice(0, 4)
        .some((verdict) => !verdict.isUsual && verdict.unusual > 7),
    );
  }
});

test('a job that ends within a slot is usual until it ends, and unusual after', () => {
  const job = (endHour: number) => (ms: number) => {
    const isJob = [0, 3].includes(dayOf(ms) % 7) && hourOf(ms) >= 5 && hourOf(ms) < endHour;
    return (isJob ? 400 : 50) * (1 + 0.05 * relativeNoise(ms));
  };
  const usual = job(6.5);
  assert.ok(
    verdictsOf(usual, 52)(49, 5)
      .slice(0, 8)
      .every(({ isUsual }) => isUsual),
  );
  const longer = verdictsOf((ms) => (dayOf(ms) === 49 ? job(7.5) : usual)(ms), 52)(49, 7);
  assert.ok(longer.slice(0, 2).every(({ isUsual }) => !isUsual));
  const whole = job(6);
  const late = verdictsOf((ms) => (dayOf(ms) === 49 ? job(7) : whole)(ms), 52)(49, 6);
  assert.ok(!late[0].isUsual, 'a job that ends with its slot');
});

test('an incident of two days leaves what is expected a week later within two usual errors', () => {
  const business = (ms: number) => (opened(ms) ? 240 : 40) * (1 + 0.04 * relativeNoise(ms));
  const incident = (ms: number) => business(ms) * (dayOf(ms) === 38 || dayOf(ms) === 39 ? 1.6 : 1);
  const clean = verdictsOf(business, 49)(42, 0);
  verdictsOf(incident, 49)(42, 0).forEach((verdict, i) => {
    assert.ok(Math.abs(verdict.expected - clean[i].expected) < 0.1 * clean[i].expected, `row ${i}`);
    assert.ok(verdict.unusual < 5, `row ${i}: ${verdict.unusual}`);
  });
});

test('two days that are reported leave what is expected of the next days as it was', () => {
  const busyness = (ms: number) => Math.exp(-(((hourOf(ms) - 13) / 4) ** 4)) * (dayOf(ms) % 7 < 5 ? 1 : 0.15);
  const expectedBehind = (factor: number) => {
    const [state, noise] = [fresh({ stepMs: HOUR_MS / 2 }), whiteNoise(5)];
    return Array.from({ length: 42 * 48 }, (_, row) => {
      const ms = (row * HOUR_MS) / 2;
      const usual = (40 + 200 * busyness(ms)) * (1 + 0.04 * noise());
      const season = trackSeason(state, START_MS + ms, usual * ([37, 38].includes(dayOf(ms)) ? factor : 1), 0);
      judgeSeason(state, NO_VERDICT, season, 0.001);
      return season?.expected ?? Number.NaN;
    }).slice(39 * 48);
  };
  const clean = expectedBehind(1);
  const moved = expectedBehind(1.6).map((expected, i) => Math.abs(expected / clean[i] - 1));
  assert.ok(Math.max(...moved) < 0.05, `moved by ${Math.max(...moved)}`);
});

test('hours that a changed schedule opens are expected in its fourth week, and the level of the weekend stays', () => {
  const isNew = (ms: number) => dayOf(ms) >= 56 && dayOf(ms) % 7 < 5 && hourOf(ms) >= 7 && hourOf(ms) < 9;
  const valueAt = (ms: number) => (isNew(ms - START_MS) ? 1_000 + noiseAt(ms) / 10 : officeAt(ms));
  const state = fresh();
  feed(state, { days: 77, valueAt });
  const fourth = feed(state, { fromDay: 77, days: 7, valueAt });
  for (const day of [0, 1, 2, 3, 4]) assert.ok(expectedAt(fourth, day, 7.5) > 750, `day ${day}`);
  assert.ok(Math.abs(expectedAt(fourth, 5, 12) - 205) < 20, 'Saturday noon');
});

test('one glitch, however large, neither ends a profile nor makes a spike usual', () => {
  for (const stepMs of [HOUR_MS, HOUR_MS / 4]) {
    for (const glitch of [5_000, 1e6, -1e9]) {
      const state = fresh({ stepMs });
      feed(state, { days: 28 });
      const glitchMs = START_MS + 29.5 * DAY_MS;
      const verdicts = feed(state, {
        fromDay: 28,
        days: 7,
        valueAt: (ms) => (ms === glitchMs ? glitch : officeAt(ms)),
      });
      assert.ok(!verdicts.includes(null), `${glitch} ends the profile`);
      const noon = START_MS + 36.5 * DAY_MS;
      const next = feed(state, { fromDay: 35, days: 2, valueAt: (ms) => officeAt(ms) + (ms === noon ? 400 : 0) });
      const spike = next.find((each) => each?.timestampMs === noon);
      assert.equal(spike?.isUsual, false, `behind ${glitch} a spike is ${spike?.deviations} deviations`);
    }
  }
});

test('what the profile explains of a blind forecast is usual, up to five deviations', () => {
  const season = {
    unusual: 0,
    isUsual: false,
    distance: 10,
    deviations: 3,
    expected: 0,
    deviation: 1,
    recentMean: 0,
    timestampMs: 0,
    day: null,
  };
  assert.equal(explainedByProfile(season, 100)?.isUsual, true);
  assert.equal(explainedByProfile(season, 30)?.isUsual, false);
  assert.equal(explainedByProfile({ ...season, deviations: 6 }, 100)?.isUsual, false);
});

/** The office at another level from one day to another. */
const officeTimes = (factor: number, from: number, to: number) => (ms: number) => {
  const day = (ms - START_MS) / DAY_MS;
  return officeAt(ms) * (day >= from && day < to ? factor : 1);
};
/** Share of verdicts between 10 and 12 h that find a value usual. */
function usualShare(verdicts: ReturnType<typeof feed>): number {
  const open = verdicts.filter((_, i) => i % 96 >= 40 && i % 96 < 48);
  return open.filter((each) => each?.isUsual).length / open.length;
}

for (const factor of [0.5, 1.5, 3]) {
  test(`a level of ${factor} times is usual from the next day on, and after eight days the one before is not`, () => {
    const state = fresh();
    const valueAt = officeTimes(factor, 21, 99);
    feed(state, { days: 21, valueAt });
    assert.equal(usualShare(feed(state, { fromDay: 21, days: 1, valueAt })), 0);
    assert.ok(usualShare(feed(keptProfile(state), { fromDay: 22, days: 3, valueAt })) > 0.9);
    assert.ok(usualShare(feed(keptProfile(state), { fromDay: 22, days: 3 })) > 0.9, 'a return is no incident');
    const more = officeTimes(4 * factor, 22, 99);
    assert.equal(usualShare(feed(keptProfile(state), { fromDay: 22, days: 1, valueAt: more })), 0);
    feed(state, { fromDay: 22, days: 13, valueAt });
    const later = feed(keptProfile(state), { fromDay: 35, days: 1, valueAt });
    assert.ok(usualShare(later) > 0.9);
    assert.ok(Math.abs(expectedAt(later, 0, 12) / (1_005 * factor) - 1) < 0.05, `${expectedAt(later, 0, 12)}`);
    assert.equal(usualShare(feed(state, { fromDay: 35, days: 1 })), 0, 'the level before is forgotten');
  });
}

test('days at another level leave nothing behind', () => {
  for (const days of [0.25, 1, 5]) {
    const state = fresh();
    feed(state, { days: 21 });
    feed(state, { fromDay: 21, days: days + 7, valueAt: officeTimes(2, 21, 21 + days) });
    assert.ok(usualShare(feed(keptProfile(state), { fromDay: 28, days: 7 })) > 0.9, `${days} days`);
    assert.equal(usualShare(feed(state, { fromDay: 28, days: 1, valueAt: officeTimes(2, 0, 99) })), 0);
  }
});

test('a glitch at night, of which nothing is expected, leaves the level of the days as it is', () => {
  const state = fresh();
  const valueAt = (ms: number) => {
    const [day, hour] = [(ms - START_MS) / DAY_MS, (ms % DAY_MS) / HOUR_MS];
    if (Math.floor(day) === 22 && hour >= 20 && hour < 22) return 120;
    return hour < 9 || hour >= 17 ? 0 : (1_000 + noiseAt(ms) / 10) * (day < 21 ? 1 : 2);
  };
  feed(state, { days: 23, valueAt });
  assert.ok(Math.abs(state.floats[PROFILE_FLOATS.at.factor] - 2) < 0.1, `${state.floats[PROFILE_FLOATS.at.factor]}`);
  assert.ok(usualShare(feed(state, { fromDay: 23, days: 1, valueAt })) > 0.9);
});
