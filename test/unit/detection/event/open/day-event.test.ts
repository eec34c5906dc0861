import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventTracker } from '../../../../../src/detection/event/event-tracker.ts';
import type { SeenValue } from '../../../../../src/detection/event/open/event-row.ts';
import { NO_RULES } from '../../../../../src/detection/event/open/event-rules.ts';
import type { AnomalyEvent } from '../../../../../src/records/anomaly-event.ts';
import { freshRings } from '../../../../fixture/events/fresh-rings.ts';

const GAP = 24;

test('an alarm of a whole day is reported as its mean, lasts as long as the day, and closes soon after it', () => {
  const stepMs = 3_600_000;
  const dayMs = 24 * stepMs;
  const rings = freshRings({ detectionSize: GAP, context: 192 });
  const subject = { detector: 'd', series: 's', group: null, labels: {}, gap: GAP, stepMs };
  const tracker = new EventTracker({ ...subject, rules: NO_RULES, idOf: String });
  const day = { agoMs: 17 * stepMs, leftMs: 7 * stepMs };
  const season = { expected: 20, deviation: 0.5, recentMean: 17, raised: true, localMs: Date.UTC(2026, 2, 4, 17), day };
  const busy = (position: number) => (position % 24 >= 8 ? 30 : 10) + (position % 3);
  const lows = [2, 3];
  const revisions: AnomalyEvent[] = [];
  for (let position = 0; position < 120; position++) {
    const value = lows.includes(Math.floor(position / 24)) ? 0.85 * busy(position) : busy(position);
    rings.keepDistance(position, value);
    // A forecast that follows the day: the row itself lies above it.
    const seen: SeenValue = { series: 's', value, expected: value - 1, lo: 8, hi: 50, sharp: 1, rings, origin: 0 };
    const alarm = lows.includes((position - 17) / 24);
    const made = tracker.track({
      position,
      timestampMs: position * stepMs,
      offset: position,
      verdict: {
        grade: 0.1,
        severity: 1,
        alarm,
        season: alarm ? season : null,
        elevated: 0,
        outsideProfile: 0,
        threshold: 0.5,
      },
      seen: [seen],
      keptOf: () => seen,
    });
    revisions.push(...made);
  }
  const reported = ({
    type,
    kind,
    direction,
    value,
    expected,
    lo,
    hi,
    closeReason,
    startedAtMs,
    endedAtMs,
  }: AnomalyEvent) => {
    return [type, kind, direction, value, expected, lo, hi, closeReason, startedAtMs, endedAtMs];
  };
  const low = ['level_shift', 'down', 17, 20, 19, 21] as const;
  assert.deepEqual(revisions.map(reported), [
    ['opened', ...low, null, 2 * dayMs, null],
    ['closed', ...low, 'new_level', 2 * dayMs, 3 * dayMs],
    ['opened', ...low, null, 3 * dayMs, null],
    ['closed', ...low, 'recovered', 3 * dayMs, 4 * dayMs],
  ]);
  const [opened, closed, second, last] = revisions;
  assert.equal(
    opened.summary,
    'Level shift down: 17 on average, the day up to 17:00 is 15 % lower than usual for a Wednesday (usually around 20)',
  );
  assert.match(closed.summary, /\(usually around 20\), at a new level since 1970-01-03 00:00 UTC$/);
  assert.match(second.summary, /, second day in a row at this time$/);
  assert.match(last.summary, /, second day in a row at this time, for 1 day$/);
  assert.deepEqual([opened.firstAlarmAtMs, opened.observations, closed.observations], [65 * stepMs, 18, 24]);
  assert.equal(closed.updatedAtMs, 3 * dayMs + 2 * stepMs);
});
