import assert from 'node:assert/strict';
import test from 'node:test';
import { NO_VERDICT, type SeasonAlarm } from '../../../../src/detection/alarm/alarm.ts';
import {
  continueProfile,
  emptyProfile,
  keptProfile,
  PROFILE_DOUBLES,
  PROFILE_FLOATS,
  type ProfileState,
  profileLayout,
} from '../../../../src/detection/profile/profile-layout.ts';
import { judgeSeason } from '../../../../src/detection/profile/season-alarm.ts';
import { trackSeason } from '../../../../src/detection/profile/season-verdict.ts';
import { type LocalCalendar, UTC_CALENDAR, zoneOffsets } from '../../../../src/time/local-calendar.ts';
import { whiteNoise } from '../../../fixture/stream/backtest.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A Monday. */
const START_MS = Date.UTC(2026, 2, 2);
/** A Wednesday. */
const LOW_DAY = 30;
const DAYS = 35;
const { todaySlots, todayExpected, days: LEARNT } = PROFILE_FLOATS.at;

const fresh = ({ calendar = UTC_CALENDAR as LocalCalendar, stepMs = HOUR_MS / 4 } = {}) =>
  emptyProfile(profileLayout(calendar, stepMs)!);
const floatOf = (state: ProfileState, at: number) => state.floats[state.floatStart + at];

/** Traffic of people, half of it at weekends. Days differ by 1.5 %, means of a quarter of an hour by 12 %. */
function trafficOf(seed: number, factorOf: (day: number) => number = () => 1, stepMs = HOUR_MS / 4) {
  const noise = whiteNoise(seed);
  const share = 0.12 * Math.sqrt(HOUR_MS / 4 / stepMs);
  const days = Array.from({ length: DAYS + 1 }, () => 1 + 0.015 * noise());
  return (localMs: number) => {
    const day = Math.floor((localMs - START_MS) / DAY_MS);
    const hour = ((localMs - START_MS) % DAY_MS) / HOUR_MS;
    const busy = 100 + 400 * Math.exp(-(((hour - 13) / 5) ** 2));
    return busy * (day % 7 < 5 ? 1 : 0.5) * days[Math.max(0, day)] * factorOf(day) * (1 + share * noise());
  };
}

interface Raised {
  readonly day: number;
  readonly ms: number;
  readonly season: SeasonAlarm;
}

/** What the seasonal profile raises alarms of, where forecasts raise none. */
function feed(
  state: ProfileState,
  valueAt: (ms: number) => number,
  { from = 0, to = DAYS, offsetAt = (_: number): number => 0 } = {},
): Raised[] {
  const raised: Raised[] = [];
  for (let ms = START_MS + from * DAY_MS; ms < START_MS + to * DAY_MS; ms += state.layout.stepMs) {
    const season = trackSeason(state, ms, valueAt(ms + offsetAt(ms)), 0);
    const verdict = judgeSeason(state, { ...NO_VERDICT, grade: 0.1, severity: 1 }, season, 0.001);
    if (verdict.season !== null) {
      raised.push({ day: Math.floor((ms - START_MS) / DAY_MS), ms, season: verdict.season });
    }
  }
  return raised;
}

const ofDays = (raised: readonly Raised[]) => raised.filter(({ season }) => season.day !== undefined);

const SEEDS = [1, 2, 3, 5, 6, 8];
const low = (day: number) => (day === LOW_DAY ? 0.85 : 1);

test('a day 15 % low is one alarm by the evening, and days as they always are raise none', () => {
  const actual = SEEDS.flatMap((seed) => ofDays(feed(fresh(), trafficOf(seed))));
  assert.deepEqual(actual, []);
  for (const seed of SEEDS) {
    const raised = feed(fresh(), trafficOf(seed, low));
    assert.deepEqual(
      raised.map(({ day }) => day),
      [LOW_DAY],
      `seed ${seed}`,
    );
    const [{ ms, season }] = raised;
    const hour = (ms - START_MS - LOW_DAY * DAY_MS) / HOUR_MS;
    assert.ok(hour >= 9 && hour <= 19, `raised at ${hour} h`);
    assert.deepEqual([season.day?.agoMs, season.day?.leftMs], [hour * HOUR_MS, (24 - hour) * HOUR_MS]);
    assert.equal(season.localMs, ms);
    const share = season.recentMean / season.expected;
    assert.ok(share > 0.8 && share < 0.92, `reported as ${share} of what was expected`);
  }
});

test('a day 15 % high is an alarm, too', () => {
  const raised = feed(
    fresh(),
    trafficOf(1, (day) => (day === LOW_DAY ? 1.15 : 1)),
  );
  assert.equal(raised.length, 1);
  assert.ok(raised[0].season.recentMean > 1.08 * raised[0].season.expected);
});

test('after a reported day the next one is not reported, and the one after that may be', () => {
  const marksAt = (to: number) => {
    const state = fresh();
    feed(state, trafficOf(1, low), { to });
    return floatOf(state, todaySlots) >= 32;
  };
  const marked = [LOW_DAY, LOW_DAY + 1, LOW_DAY + 2, LOW_DAY + 3].map((day) => marksAt(day + 0.99));
  assert.deepEqual(marked, [true, true, false, false]);
});

test('a day that is 3 % low is no alarm where days are all alike, and one that is 11 % low is', () => {
  const alike = (share: number) => {
    const noise = whiteNoise(4);
    return (ms: number) => {
      const [day, hour] = [Math.floor((ms - START_MS) / DAY_MS), ((ms - START_MS) % DAY_MS) / HOUR_MS];
      const busy = 100 + 80 * Math.sin((Math.PI * hour) / 12);
      return busy * (day === LOW_DAY ? 1 - share : 1) * (1 + 0.06 * noise());
    };
  };
  assert.deepEqual(ofDays(feed(fresh(), alike(0.03))), []);
  const actual = ofDays(feed(fresh(), alike(0.11))).map(({ day }) => day);
  assert.deepEqual(actual, [LOW_DAY]);
});

test('steps of a minute and of hours see it as well', () => {
  for (const stepMs of [60_000, HOUR_MS, 3 * HOUR_MS]) {
    const raised = feed(fresh({ stepMs }), trafficOf(3, low, stepMs));
    const actual = raised.map(({ day, season }) => [day, season.day === undefined]);
    assert.deepEqual(actual, [[LOW_DAY, false]], `${stepMs} ms`);
  }
});

test('a day on which the season itself was an alarm raises no second one', () => {
  const sunday = trafficOf(1, (day) => (day === LOW_DAY ? 0.5 : 1));
  const raised = feed(fresh(), sunday).filter(({ day }) => day === LOW_DAY);
  const actual = raised.map(({ season }) => season.day);
  assert.deepEqual(actual, [undefined]);
});

test('a special day is a day like the weekday that it resembles', () => {
  const date = START_MS / DAY_MS + LOW_DAY;
  const calendar = { offsets: [], specialDays: [[date, 6]] } as const;
  const holiday = (factor: number) => trafficOf(2, (day) => (day === LOW_DAY ? 0.5 * factor : 1));
  assert.deepEqual(feed(fresh({ calendar }), holiday(1)), []);
  assert.notDeepEqual(feed(fresh(), holiday(1)), []);
  const raised = feed(fresh({ calendar }), holiday(1.25), { to: LOW_DAY + 1 });
  const actual = raised.map(({ day, season }) => [day, season.day === undefined]);
  assert.deepEqual(actual, [[LOW_DAY, false]]);
});

test('days of 23 and 25 hours are days, and a day is reported by its clock', () => {
  const offsets = zoneOffsets('Europe/Berlin');
  for (const changeMs of [Date.UTC(2026, 2, 29, 1), Date.UTC(2026, 9, 25, 1)]) {
    const isSpring = changeMs < Date.UTC(2026, 6);
    const movedMs = isSpring ? 0 : changeMs - Date.UTC(2026, 2, 29, 1);
    const [before, after] = isSpring ? [1, 2] : [2, 1];
    const offsetAt = (ms: number) => HOUR_MS * (ms + movedMs < changeMs ? before : after);
    const calendar = { offsets: offsets.map(([from, to]) => [from - movedMs, to] as const), specialDays: [] };
    const state = fresh({ calendar });
    assert.deepEqual(ofDays(feed(state, trafficOf(4), { offsetAt })), []);
    const unchanged = fresh({ calendar: { offsets: [[0, HOUR_MS * before]], specialDays: [] } });
    feed(unchanged, trafficOf(4), { offsetAt: () => HOUR_MS * before });
    assert.equal(floatOf(state, LEARNT), floatOf(unchanged, LEARNT));
    const reported = ofDays(feed(fresh({ calendar }), trafficOf(4, low27), { to: 30, offsetAt }));
    const actual = reported.map(({ day }) => day);
    assert.deepEqual(actual, [27]);
    const [{ ms, season }] = reported;
    const midnight = ms - season.day!.agoMs;
    assert.equal((midnight + offsetAt(midnight)) % DAY_MS, 0);
    assert.equal(season.day!.agoMs + season.day!.leftMs, DAY_MS - HOUR_MS * (after - before));
  }
});

/** The Sunday on which clocks change. */
const low27 = (day: number) => (day === 27 ? 0.7 : 1);

test('a day with few of its hours teaches nothing, and what is expected may be 0', () => {
  const state = fresh();
  feed(state, trafficOf(1), { to: 20.1 });
  const learnt = floatOf(state, LEARNT);
  feed(state, trafficOf(1), { from: 20.5, to: 21.1 });
  assert.equal(floatOf(state, LEARNT), learnt);
  const zeros = fresh();
  const raised = feed(zeros, (ms) => (ms < START_MS + LOW_DAY * DAY_MS ? 0 : 1));
  assert.deepEqual([raised, zeros.floats.every(Number.isFinite)], [[], true]);
});

test('a larger unit changes nothing of what today has shown', () => {
  const state = fresh();
  feed(state, trafficOf(1), { to: 20.5 });
  const unitOf = () => state.doubles[PROFILE_DOUBLES.at.unit];
  const expected = () => floatOf(state, todayExpected) * unitOf();
  const [unit, before] = [unitOf(), expected()];
  feed(state, () => 1e9, { from: 20.5, to: 20.5 + 2 / 24 });
  assert.ok(unitOf() > 1_000 * unit);
  // One more slot is expected to show 400 to 500 more than the first one of all.
  assert.ok(expected() - before > 200 && expected() - before < 600, String(expected() - before));
});

test('a day continues under other settings, and starts over where the clock is another', () => {
  const state = fresh();
  feed(state, trafficOf(1), { to: 20.5 });
  assert.equal(floatOf(state, todaySlots), 11);
  const same = fresh();
  assert.ok(continueProfile(keptProfile(state), same, START_MS + 20.5 * DAY_MS));
  assert.equal(floatOf(same, todaySlots), 11);
  const other = fresh({ calendar: { offsets: [[0, 5 * HOUR_MS]], specialDays: [] } });
  assert.ok(continueProfile(keptProfile(state), other, START_MS + 20.5 * DAY_MS));
  assert.equal(floatOf(other, todaySlots), 0);
  assert.equal(floatOf(other, LEARNT), floatOf(state, LEARNT));
});
