import assert from 'node:assert/strict';
import test from 'node:test';
import {
  forecastContext,
  inSampleContext,
  inSampleHorizon,
  seasonalHorizon,
} from '../../../src/http/frequency-profile.ts';

test('a horizon is a season; within a history a shorter one where the season is long', () => {
  const horizons = ['h', 'D', 'MS', 'W-SUN', 'YE', '15min', 'cbh'].map((freq) => [
    seasonalHorizon(freq),
    inSampleHorizon(freq),
  ]);
  assert.deepEqual(horizons, [
    [24, 16],
    [7, 7],
    [12, 12],
    [52, 16],
    [4, 4],
    [96, 16],
    [24, 16],
  ]);
});

test('a forecast looks at no more than a client sends: less where series are short, else all that the model can', () => {
  const contexts = ['h', 'D', 'B', 'MS', 'QS-DEC', 'W-THU', 'Y', '5min', 'cbh'].map((freq) =>
    forecastContext(freq, 512),
  );
  assert.deepEqual(contexts, [336, 140, 100, 108, 40, 104, 24, 512, 512]);
  assert.equal(forecastContext('h', 64), 64);
});

test('a history of days or weeks is forecast from fewer values than the model can look at', () => {
  const contexts = ['D', 'B', 'W', 'h', '5min', 'MS', 'cbh'].map((freq) => inSampleContext(freq, 512));
  assert.deepEqual(contexts, [112, 112, 256, 512, 512, 512, 512]);
  assert.equal(inSampleContext('D', 64), 64);
});

test('twelve years of months are enough for intervals of a year or two, also for clients that check before they ask', () => {
  assert.ok(forecastContext('MS', 512) + seasonalHorizon('MS') <= 144 - 24);
});
