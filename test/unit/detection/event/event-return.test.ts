import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasReturned, isStillDisplaced } from '../../../../src/detection/event/event-return.ts';
import { newEvent, type OpenEvent } from '../../../../src/detection/event/open/open-event.ts';
import type { SeriesRings } from '../../../../src/detection/memory/series-rings.ts';
import type { EventKind } from '../../../../src/records/anomaly-event.ts';
import { freshRings } from '../../../fixture/events/fresh-rings.ts';
import { whiteNoise } from '../../../fixture/stream/backtest.ts';

const HOUR_MS = 3_600_000;
const GAP = 24;
const START = 400;
const ROWS = 80;
const HEIGHT = 40;

/** A day of 24 rows, with noise of 1; `away` says how far values are displaced. */
function ringsOf(away: (since: number) => number, seed: number): SeriesRings {
  const noise = whiteNoise(seed);
  const rings = freshRings({ context: 512 });
  for (let row = 0; row < START + ROWS; row++) {
    rings.keepDistance(row, 20 * Math.sin((2 * Math.PI * row) / 24) + noise() + away(row - START));
  }
  return rings;
}

/** An event of so many rows. */
function eventOf(kind: EventKind, rows: number): OpenEvent {
  const begun = { position: START, timestampMs: START * HOUR_MS };
  const bounds = { lo: null, hi: null, unusual: null, grade: 0.9 };
  return newEvent(
    { detector: 'd', series: 's', group: null, labels: {} },
    {
      eventId: 'e',
      kind,
      leader: 's',
      scale: 1,
      changeScale: 1,
      leading: 0,
      before: null,
      peak: { ...bounds, timestampMs: begun.timestampMs, value: HEIGHT, expected: 0 },
      begun,
      firstAlarm: begun,
      away: { until: { position: START + rows, timestampMs: (START + rows) * HOUR_MS }, otherRows: 3 },
    },
  );
}

const CLOSING = { position: START + ROWS - 1, gap: GAP, stepMs: HOUR_MS };
const stays = (since: number) => (since < 0 ? 0 : HEIGHT);

function isBack(away: (since: number) => number, seed: number): boolean {
  return hasReturned(eventOf('level_shift', 20), { rings: ringsOf(away, seed), origin: 0 }, CLOSING);
}

test('regression: values that are back behind a drift that was no event are at no new level', () => {
  const drifted = (since: number) => (since < 0 ? -HEIGHT * Math.max(0, 1 + since / 72) : 0);
  for (let seed = 0; seed < 20; seed++) {
    assert.equal(isBack(drifted, seed), true, `seed ${seed}`);
    assert.equal(isBack(stays, seed), false, 'values that stay away are');
    const actual = isBack((since) => (since < 0 || since >= 20 ? 0 : HEIGHT), seed);
    assert.equal(actual, true, 'and those that went back not');
  }
});

test('regression: a spike whose rows reach to its end, and whose values stay away, is none', () => {
  const isNone = (kind: EventKind, rows: number, away = stays) => {
    return isStillDisplaced(eventOf(kind, rows), { rings: ringsOf(away, 1), origin: 0 }, CLOSING);
  };
  assert.equal(isNone('spike', ROWS), true);
  assert.equal(isNone('spike', 20), false, 'its rows were back by then');
  const actual = isNone('spike', ROWS, () => 0);
  assert.equal(actual, false, 'values are back');
  assert.equal(isNone('burst', ROWS), false);
});
