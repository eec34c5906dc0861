import assert from 'node:assert/strict';
import { test } from 'node:test';
import { durationText, rarityText, summaryOf } from '../../../../src/detector/event/event-summary.ts';

const spike = {
  kind: 'spike',
  direction: 'up',
  value: 1234.5678,
  expected: 40,
  unusual: 'highest in 14 days',
  members: [],
  seriesCount: null,
} as const;

test('a sentence says what was seen, what was expected and how rare that is', () => {
  assert.equal(summaryOf(spike, null), 'Spike: 1234.57 where 40 was expected, highest in 14 days');
  assert.equal(summaryOf({ ...spike, unusual: null }, 0), 'Spike: 1234.57 where 40 was expected, at one time step');
  const shift = { ...spike, kind: 'level_shift', direction: 'down', unusual: null } as const;
  assert.equal(summaryOf(shift, 7_200_000), 'Level shift down: 1234.57 where 40 was expected, for 2 hours');
  assert.equal(summaryOf({ ...shift, direction: 'both', expected: null }, null), 'Level shift: 1234.57');
});

test('of a group it names the member that showed most', () => {
  const members = [
    { series: 'web-1', share: 0.644 },
    { series: 'web-2', share: 0.356 },
  ];
  assert.match(summaryOf({ ...spike, members, unusual: null }, null), /expected, mostly web-1 \(64 %\)$/);
});

test('a silence has no value', () => {
  const silence = { ...spike, kind: 'silence', value: null, expected: null, unusual: null } as const;
  assert.equal(summaryOf(silence, null), 'Silence: no value where one was due');
  const pause = { ...silence, seriesCount: 1_500 };
  assert.equal(summaryOf(pause, null), 'Silence: no value of any of 1500 series');
  assert.equal(summaryOf(pause, 540_000), 'Silence: no value of any of 1500 series, for 9 minutes');
});

test('a duration has two of its unit at least, where there are so many', () => {
  const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];
  assert.deepEqual([1_500, 90 * second, 2 * minute, 119 * minute, 36 * hour, 2 * day, 400 * day].map(durationText), [
    '1 second',
    '90 seconds',
    '2 minutes',
    '119 minutes',
    '36 hours',
    '2 days',
    '400 days',
  ]);
  assert.equal(rarityText({ side: 'lowest', rows: 336 }, hour), 'lowest in 14 days');
});
