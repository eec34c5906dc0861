import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inferFrequency } from '../../../src/time/infer-frequency.ts';

const START = Date.UTC(2024, 0, 1);
const DAY = 86_400_000;
const every = (stepMs: number, count = 30) => Array.from({ length: count }, (_, i) => START + i * stepMs);
const aliasOf = (...series: number[][]) => inferFrequency(series)?.alias ?? null;

test('equal steps have the alias of their largest unit', () => {
  const steps = [1_000, 300_000, 5_400_000, 3_600_000, DAY, 7 * DAY, 250, 90 * 60_000];
  const aliases = ['s', '5min', '90min', 'h', 'D', 'W', '250ms', '90min'];
  const found = steps.map((step) => aliasOf(every(step)));
  assert.deepEqual(found, aliases);
});

test('gaps, late and equal times do not change the step', () => {
  const times = every(60_000);
  times.splice(5, 3);
  assert.equal(aliasOf([...times, times[3], times[3], times.at(-1)! + DAY]), 'min');
});

test('jitter is tolerated, an odd step without jitter is kept', () => {
  const jitter = [-800, 300, 1_100, -200, 700, 0, -1_000];
  const jittery = every(300_000).map((time, i) => time + jitter[i % jitter.length]);
  assert.equal(aliasOf(jittery), '5min');
  assert.equal(aliasOf(every(299_000)), '299s');
});

test('months, quarters and years are calendar steps', () => {
  const months = (n: number) => Array.from({ length: 24 }, (_, i) => Date.UTC(2000, i * n, 1));
  const ofMonths = [1, 3, 12].map((n) => aliasOf(months(n)));
  assert.deepEqual(ofMonths, ['MS', 'QS', 'YS']);
});

test('equal steps of 28, 30 or 365 days are days and weeks, not months or years', () => {
  const ofDays = [28, 30, 91, 365].map((days) => aliasOf(every(days * DAY)));
  assert.deepEqual(ofDays, ['4W', '30D', '13W', '365D']);
});

test('days without any weekend are weekdays', () => {
  const weekdays = every(DAY, 40).filter((time) => new Date(time).getUTCDay() % 6 !== 0);
  assert.equal(aliasOf(weekdays), 'B');
});

test('only steps within a series count, and without any the frequency is null', () => {
  assert.equal(aliasOf(every(60_000), every(60_000)), 'min');
  assert.equal(aliasOf([START], [START + 5]), null);
  assert.equal(aliasOf([START, START]), null);
});
