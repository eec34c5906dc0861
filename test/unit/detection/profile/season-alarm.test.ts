import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_VERDICT } from '../../../../src/detection/alarm/alarm.ts';
import { emptyProfile, profileLayout } from '../../../../src/detection/profile/profile-layout.ts';
import { judgeSeason, passSeason } from '../../../../src/detection/profile/season-alarm.ts';
import { UTC_CALENDAR } from '../../../../src/time/local-calendar.ts';

const layout = profileLayout(UTC_CALENDAR, 3_600_000)!;
const seasonOf = (unusual: number) => {
  return {
    unusual,
    isUsual: false,
    distance: 0,
    deviations: 0,
    expected: 0,
    deviation: 1,
    recentMean: unusual,
    timestampMs: 0,
    day: null,
  };
};

test('of a group, whose members share the target rate, the season of each is an alarm at fewer deviations', () => {
  const raises = (unusual: number, isMember: boolean) => {
    return passSeason(emptyProfile(layout), seasonOf(unusual), { rate: 0.001, isMember }).raised;
  };
  const actual = [5.9, 6.5, 7.1].map((unusual) => raises(unusual, true));
  assert.deepEqual(actual, [false, true, true]);
  assert.deepEqual(
    [5.9, 6.5, 7.1].map((unusual) => raises(unusual, false)),
    [false, false, true],
  );
});

test('behind a usual row a faint alarm needs to exceed the threshold alone, later rows need not', () => {
  const state = emptyProfile(layout);
  const alarmOf = (grade: number, isUsual: boolean, deviations = 3) => {
    const season = { ...seasonOf(0), isUsual, deviations };
    return judgeSeason(state, { ...NO_VERDICT, alarm: true, grade, threshold: 0.5 }, season, 0.001).alarm;
  };
  assert.deepEqual(
    [alarmOf(0.9, true), alarmOf(0.4, false), alarmOf(0.4, false), alarmOf(0.9, true), alarmOf(0.6, false)],
    [false, false, true, false, true],
  );
  assert.deepEqual([alarmOf(0.9, true), alarmOf(0.4, false, 6)], [false, true], 'far outside of the profile');
});

test('a departure from rest is an alarm however wide the profile is, unless the profile expected it', () => {
  const alarmOf = (distance: number) => {
    const season = { ...seasonOf(0), isUsual: true, distance };
    return judgeSeason(emptyProfile(layout), { ...NO_VERDICT, alarm: true, elevated: 3, departed: 1 }, season, 0.001);
  };
  assert.deepEqual([alarmOf(1).alarm, alarmOf(1).elevated, alarmOf(0.1).alarm], [true, 3, false]);
});
