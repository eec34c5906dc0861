import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  coveringCutoffs,
  cutoffsOfWindow,
  forecastedPositions,
  forecastGrid,
  isCutoff,
} from '../../../../src/detection/calibration/cutoff-grid.ts';
import { CONTEXT_MIN, contextBucket } from '../../../../src/forecasting/context-length.ts';

test('cutoffs go back from h before the end in steps, down to the smallest context', () => {
  assert.deepEqual(cutoffsOfWindow(72, { h: 24, stepSize: 24 }), [24, 48]);
  assert.deepEqual(cutoffsOfWindow(72, { h: 24, stepSize: 12 }), [24, 36, 48]);
  assert.deepEqual(cutoffsOfWindow(CONTEXT_MIN + 5, { h: 4, stepSize: 1 }), [16, 17]);
  assert.deepEqual(cutoffsOfWindow(CONTEXT_MIN, { h: 4, stepSize: 4 }), []);
});

test('the cutoffs of windows that follow each other lie on one grid', () => {
  for (const grid of [
    { h: 24, stepSize: 24 },
    { h: 24, stepSize: 12 },
    { h: 5, stepSize: 3 },
  ]) {
    for (let n = grid.stepSize * 20; n < grid.stepSize * 30; n += grid.stepSize) {
      for (let phase = 0; phase < 2 * grid.stepSize; phase++) {
        const own = forecastGrid(grid, phase);
        const cutoffs = cutoffsOfWindow(n + phase, grid);
        for (const cutoff of cutoffs) assert.ok(isCutoff(cutoff, own), `${cutoff} of ${n}, phase ${phase}`);
        assert.equal(cutoffs[0], own.first);
      }
    }
  }
});

test('a position is covered by as many forecasts as there are cutoffs with it in their horizon', () => {
  for (const grid of [
    forecastGrid({ h: 24, stepSize: 12 }, 0),
    forecastGrid({ h: 7, stepSize: 3 }, 2),
    forecastGrid({ h: 3, stepSize: 5 }, 4),
  ]) {
    for (let position = 0; position < 120; position++) {
      for (const cutoffMax of [position - 4, position, position + 4]) {
        let counted = 0;
        for (let cutoff = 0; cutoff <= Math.min(position, cutoffMax); cutoff++) {
          if (isCutoff(cutoff, grid) && cutoff > position - grid.h) counted++;
        }
        assert.equal(coveringCutoffs(position, cutoffMax, grid), counted, `${position} up to ${cutoffMax}`);
      }
    }
  }
});

test('a context goes into the smallest bucket that holds it, a longer one into the largest', () => {
  const actual = [1, 64, 65, 512, 600].map((available) => contextBucket(available, [64, 128, 512]));
  assert.deepEqual(actual, [64, 64, 128, 512, 512]);
});

test('forecasted positions are those in the horizon of a cutoff', () => {
  for (const grid of [
    forecastGrid({ h: 4, stepSize: 4 }, 3),
    forecastGrid({ h: 6, stepSize: 3 }, 0),
    forecastGrid({ h: 2, stepSize: 5 }, 1),
  ]) {
    const covered = new Set<number>();
    for (let cutoff = 0; cutoff < 100; cutoff++) {
      if (isCutoff(cutoff, grid)) for (let k = 0; k < grid.h; k++) covered.add(cutoff + k);
    }
    for (let end = 0; end < 90; end++) {
      const counted = [...covered].filter((position) => position < end).length;
      assert.equal(forecastedPositions(end, grid), counted, `h ${grid.h}, s ${grid.stepSize}, end ${end}`);
    }
  }
});
