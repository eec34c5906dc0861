import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_VERDICT } from '../../../../../src/detection/alarm/alarm.ts';
import { judgeRise } from '../../../../../src/detection/event/alarm/rise-alarm.ts';
import { SeriesMemory, seriesLayout } from '../../../../../src/detection/memory/series-memory.ts';
import { SeriesRings } from '../../../../../src/detection/memory/series-rings.ts';
import { UTC_CALENDAR } from '../../../../../src/time/local-calendar.ts';
import { seededRandom } from '../../../../fixture/seeded-random.ts';
import { streamSettings } from '../../../../fixture/stream/stream-run.ts';

const STEP_MS = 300_000;
const DAY_ROWS = 288;
const START = 700;
const RATE = 1 / 8_766;

/** The rows from START on at which a series is found to rise; every row has the grade. */
function risingRows(valueAt: (row: number, noise: number) => number, { grade = 0.5, stepMs = STEP_MS } = {}): number[] {
  const settings = streamSettings({ context: 512, profile: { calendar: UTC_CALENDAR, stepMs } });
  const rings = new SeriesRings(new SeriesMemory(seriesLayout(settings)));
  rings.origin = 0;
  const random = seededRandom(5);
  return Array.from({ length: START + 120 }, (_, row) => row).flatMap((row) => {
    rings.keepDistance(row, valueAt(row, 2 * random() - 1));
    return judgeRise(rings, row, { ...NO_VERDICT, grade }, RATE).alarm ? [row - START] : [];
  });
}

const daily = (row: number) => 46 + 5 * Math.sin((2 * Math.PI * row) / DAY_ROWS);
const since = (row: number) => Math.max(0, row - START);

test('a leak is an alarm within three hours, and continues to be one, up or down', () => {
  for (const slope of [0.2, 0.4, -0.4]) {
    const rows = risingRows((row, noise) => daily(row) + 0.7 * noise + slope * since(row));
    assert.ok(rows[0] > 0 && rows[0] < 36, `slope ${slope}: row ${rows[0]}`);
    assert.ok(rows.length > 5, `slope ${slope}: ${rows.length} rows`);
  }
});

test('a season, a step, a walk and a steady trend are none', () => {
  let level = 0;
  for (const valueAt of [
    (row: number, noise: number) => daily(row) + 0.7 * noise,
    (row: number, noise: number) => daily(row) + 0.7 * noise + (row < START ? 0 : 20),
    (row: number, noise: number) => daily(row) + 0.7 * noise + 0.1 * row,
    (_: number, noise: number) => {
      level += noise;
      return level;
    },
  ]) {
    // A step passes through the parts for a while.
    assert.ok(risingRows(valueAt).length <= 8);
  }
});

test('rows that forecasts explain are none, and neither is a series whose context has no day', () => {
  const leak = (row: number, noise: number) => daily(row) + 0.7 * noise + 0.4 * since(row);
  assert.deepEqual(risingRows(leak, { grade: 0.2 }), []);
  assert.deepEqual(risingRows(leak, { stepMs: 60_000 }), []);
});
