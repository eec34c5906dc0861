import assert from 'node:assert/strict';
import test from 'node:test';
import {
  aggregationOf,
  forecastContext,
  frequencyProfile,
  inSampleContext,
  inSampleHorizon,
  seasonalHorizon,
} from '../../../../src/api/models/frequency-profile.ts';
import { lookbackLength } from '../../../../src/forecasting/multi-resolution.ts';

const CONTEXT = 512;
const lookbackIn = (freq: string) =>
  lookbackLength({
    context: forecastContext(frequencyProfile(freq), CONTEXT),
    aggregation: aggregationOf(frequencyProfile(freq), CONTEXT),
    probabilities: [],
  });

/** Season, horizon, and values that a forecast looks at, of every family of aliases. */
const PROFILES: Readonly<Record<string, readonly [season: number, horizon: number, inputSize: number]>> = {
  ns: [1000, 1000, 512],
  '100us': [10, 10, 512],
  ms: [1000, 1000, 512],
  '250L': [4, 4, 512],
  s: [3600, 3600, 512],
  '30S': [120, 120, 512],
  min: [1440, 1440, 18_240],
  '5T': [288, 288, 3648],
  '5min': [288, 288, 3648],
  '15min': [96, 96, 1216],
  '30min': [48, 48, 608],
  '45min': [32, 32, 512],
  '60min': [24, 24, 336],
  h: [24, 24, 336],
  H: [24, 24, 336],
  '2h': [12, 12, 168],
  '5h': [5, 5, 68],
  '7h': [24, 24, 48],
  '12h': [2, 4, 28],
  '24h': [7, 7, 140],
  D: [7, 7, 140],
  '1d': [7, 7, 140],
  '2D': [7, 7, 70],
  B: [5, 5, 100],
  C: [5, 5, 100],
  '2B': [5, 5, 50],
  bh: [8, 8, 160],
  cbh: [8, 8, 160],
  W: [52, 52, 104],
  'W-SUN': [52, 52, 104],
  '7D': [52, 52, 104],
  '4W': [13, 13, 26],
  SM: [24, 24, 216],
  SMS: [24, 24, 216],
  M: [12, 12, 108],
  MS: [12, 12, 108],
  BME: [12, 12, 108],
  '2MS': [6, 6, 54],
  '5MS': [12, 12, 24],
  Q: [4, 4, 40],
  'QS-OCT': [4, 4, 40],
  '3MS': [4, 4, 40],
  Y: [1, 4, 24],
  'YE-DEC': [1, 4, 24],
  'A-MAR': [1, 4, 24],
  '2YS': [1, 4, 24],
  unheard: [24, 24, 512],
  '1h30min': [24, 24, 512],
  '': [24, 24, 512],
};

test('every family of aliases has a season, a horizon and a context; unknown aliases get the generic profile', () => {
  const found = Object.keys(PROFILES).map((freq) => [
    freq,
    [frequencyProfile(freq).season, seasonalHorizon(frequencyProfile(freq)), lookbackIn(freq)],
  ]);
  assert.deepEqual(Object.fromEntries(found), PROFILES);
});

test('the in-sample horizon is shorter than a long season', () => {
  const actual = ['15min', 'W', 'D', 'YE'].map((freq) => inSampleHorizon(frequencyProfile(freq)));
  assert.deepEqual(actual, [16, 16, 7, 4]);
});

test('a forecast gives the model at most its context', () => {
  for (const freq of ['h', 'D', '5min', 'unheard']) assert.ok(forecastContext(frequencyProfile(freq), 64) <= 64);
  assert.equal(aggregationOf(frequencyProfile('5min'), 64)?.blocks, 64);
});

test('in-sample forecasts of days and weeks use a shorter context', () => {
  const contexts = ['D', 'B', 'W', 'h', '5min', 'MS', 'cbh'].map((freq) =>
    inSampleContext(frequencyProfile(freq), 512),
  );
  assert.deepEqual(contexts, [112, 112, 256, 512, 512, 512, 512]);
  assert.equal(inSampleContext(frequencyProfile('D'), 64), 64);
});

test('twelve years of months suffice for intervals of one or two years, also for clients that check first', () => {
  assert.ok(lookbackIn('MS') + seasonalHorizon(frequencyProfile('MS')) <= 144 - 24);
});

test('two weeks of sub-hourly values suffice for intervals, also for clients that check first', () => {
  const passHorizonMax = 128;
  for (const minutes of [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30]) {
    const needed =
      lookbackIn(`${minutes}min`) + Math.min(passHorizonMax, seasonalHorizon(frequencyProfile(`${minutes}min`)));
    assert.ok(needed <= (14 * 1440) / minutes, `${minutes}min: ${needed}`);
  }
});

test('sub-hourly values are aggregated by hour', () => {
  assert.deepEqual(aggregationOf(frequencyProfile('5min'), CONTEXT), { stride: 12, blocks: 256, day: 288 });
  assert.deepEqual(aggregationOf(frequencyProfile('30T'), CONTEXT), { stride: 2, blocks: 256, day: 48 });
  for (const freq of ['s', '45min', 'h', 'D', 'unheard'])
    assert.equal(aggregationOf(frequencyProfile(freq), CONTEXT), null, freq);
});
