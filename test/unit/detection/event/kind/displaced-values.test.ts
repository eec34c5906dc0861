import assert from 'node:assert/strict';
import { test } from 'node:test';
import { departureOf } from '../../../../../src/detection/event/kind/displaced-values.ts';
import { freshRings } from '../../../../fixture/events/fresh-rings.ts';
import { whiteNoise } from '../../../../fixture/stream/backtest.ts';

const HOUR_MS = 3_600_000;
const CONTEXT = 512;
const START = 400;

/** A day of 24 rows, with noise of 1; `away` says how far values are displaced. */
function departure(
  away: (since: number) => number,
  rows: number,
  { amplitude = 20, seed = 1, until = START + rows, stepMs = HOUR_MS, peak = 0 } = {},
) {
  const noise = whiteNoise(seed);
  const rings = freshRings({ context: CONTEXT });
  for (let row = 0; row < START + rows; row++) {
    rings.keepDistance(row, amplitude * Math.sin((2 * Math.PI * row) / 24) + noise() + away(row - START));
  }
  return departureOf({ rings, origin: 0 }, { start: START, stepMs, until, position: START + rows - 1, peak });
}

test('a step takes no rows, and a drift as many as it rises', () => {
  for (let seed = 0; seed < 20; seed++) {
    for (const amplitude of [0, 20]) {
      const step = departure((since) => (since < 0 ? 0 : -12), 60, { amplitude, seed })!;
      assert.ok(step.riseRows <= 9, `a step of ${step.riseRows} rows, seed ${seed}`);
      assert.ok(step.displacedRows > 40, `${step.displacedRows} displaced`);
      const drift = departure((since) => Math.max(0, Math.min(15, (since + 10) / 3)), 60, { amplitude, seed })!;
      assert.ok(drift.riseRows >= 12 && drift.riseRows <= 42, `a drift of ${drift.riseRows} rows, seed ${seed}`);
    }
  }
});

test('a first row is no level shift by the noise before it', () => {
  let known = 0;
  for (let seed = 0; seed < 20; seed++) {
    for (const rows of [1, 3]) {
      const spike = departure((since) => (since === 0 ? 12 : 0), rows, { seed });
      if (spike !== null) known++;
      assert.ok(spike === null || spike.displacedRows <= rows, `${spike?.displacedRows} of ${rows} rows, seed ${seed}`);
    }
  }
  assert.ok(known > 0);
});

test('regression: values that are back behind a drift that was no event did not leave what is usual', () => {
  const drifted = (since: number) => (since < 0 ? -40 * Math.max(0, 1 + since / 72) : 0);
  for (let seed = 0; seed < 20; seed++) {
    // The same time of the day before lies before the drift.
    const reported = [6, 30, 60].map((rows) => departure(drifted, rows, { seed, stepMs: HOUR_MS / 4, peak: 40 }));
    assert.deepEqual(reported, [null, null, null], `seed ${seed}`);
  }
});

test('nothing is known where the rows before the event are not kept', () => {
  const rings = freshRings({ context: CONTEXT });
  for (let row = 0; row < 900; row++) rings.keepDistance(row, row);
  assert.equal(
    departureOf({ rings, origin: 0 }, { start: 420, until: 900, position: 899, stepMs: HOUR_MS, peak: 0 }),
    null,
  );
});

test('missing values are no evidence', () => {
  const actual = departure((since) => (since < 0 ? 0 : Number.NaN), 30);
  assert.equal(actual, null);
});

test('a slow drift rises while single values are typical again, and continues to rise; a level stays', () => {
  const departed = (away: (since: number) => number, until: number) =>
    Array.from({ length: 40 }, (_, seed) => departure(away, 60, { amplitude: 20, seed, until })!.riseRows);
  for (const until of [START + 2, START + 60]) {
    const drifts = departed((since) => Math.max(0, (since + 40) / 8), until);
    assert.ok(drifts.filter((rows) => rows >= 12).length >= 36, `drifts rise in ${drifts}`);
    const levels = departed((since) => (since < 0 ? 0 : 8), until);
    assert.ok(levels.filter((rows) => rows < 12).length >= 38, `levels rise in ${levels}`);
  }
});

test('a drift is one still when its values go back', () => {
  const away = (since: number) => (since < 40 ? Math.max(0, Math.min(12, (since + 6) / 3)) : 0);
  const risen = Array.from({ length: 40 }, (_, seed) => departure(away, 60, { seed })!.riseRows);
  assert.ok(risen.filter((each) => each >= 12).length >= 36, `drifts rise in ${risen}`);
});

test('values that lie no farther from what is usual than they often do have rarely left', () => {
  const departed = Array.from({ length: 40 }, (_, seed) => departure(() => 0, 1, { seed, until: START + 1 }));
  assert.ok(departed.filter((each) => each !== null).length <= 16, JSON.stringify(departed));
});
