import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventTracker } from '../../../../src/detection/event/event-tracker.ts';
import { NO_RULES } from '../../../../src/detection/event/open/event-rules.ts';
import type { AnomalyEvent } from '../../../../src/records/anomaly-event.ts';
import { freshRings } from '../../../fixture/events/fresh-rings.ts';

const GAP = 12;
const STEP_MS = 60_000;
const EXPECTED = 10;
const START = 60;

/** The revisions of an event of rows: [value, severity of its alarm]. They begin at START, behind calm rows. */
function revisionsOf(rows: readonly (readonly [value: number, severity?: number])[]): AnomalyEvent[] {
  const rings = freshRings({ detectionSize: GAP, context: 128 });
  const subject = { detector: 'd', series: 's', group: null, labels: {}, gap: GAP, stepMs: STEP_MS };
  const tracker = new EventTracker({ ...subject, rules: NO_RULES, idOf: String });
  const calm = Array.from({ length: START }, (_, i) => [EXPECTED + (i % 2)] as const);
  return [...calm, ...rows].flatMap(([value, severity], position) => {
    rings.keepDistance(position, value);
    const alarm = severity !== undefined;
    if (!tracker.wants(alarm, value)) return [];
    const seen = { series: 's', value, expected: EXPECTED, lo: 8, hi: 13, sharp: severity ?? 1, rings, origin: 0 };
    const shown = { grade: alarm ? 0.8 : 0.1, severity: severity ?? 1, alarm };
    return tracker.track({
      position,
      timestampMs: position * STEP_MS,
      offset: position,
      verdict: { ...shown, season: null, elevated: alarm ? 1 : 0, outsideProfile: 0, threshold: 0.5 },
      seen: Number.isNaN(value) ? [] : [seen],
      keptOf: () => seen,
    });
  });
}

const typical = (rows: number) => Array.from({ length: rows }, (_, i) => [EXPECTED + (i % 2)] as const);
const missing = (rows: number) => Array.from({ length: rows }, () => [Number.NaN] as const);
const away = (rows: number, value: number, severity: number) =>
  Array.from({ length: rows }, (_, i) => [value + (i % 2), severity] as const);
const minutes = (ms: number | null) => (ms === null ? null : ms / STEP_MS - START);

test('an open event whose values are back is recovering, and lasts no longer than they were away', () => {
  const revisions = revisionsOf([...away(6, 40, 50), ...typical(60)]);
  const actual = revisions.map(({ type, recoveringSinceMs, endedAtMs }) => [
    type,
    minutes(recoveringSinceMs),
    minutes(endedAtMs),
  ]);
  assert.deepEqual(actual, [
    ['opened', null, null],
    ['updated', null, null],
    ['updated', 6, null],
    ['closed', null, 6],
  ]);
  const [, , recovering, closed] = revisions;
  assert.match(recovering.summary, /, for 6 minutes, recovering since 1970-01-01 01:06 UTC$/);
  assert.match(closed.summary, /, for 6 minutes$/);
  assert.equal(recovering.observations, closed.observations);
});

test('an event does not end behind missing rows, but with the first typical one that is seen', () => {
  const closed = revisionsOf([...away(6, 40, 50), ...missing(30), ...typical(60)]).at(-1)!;
  assert.deepEqual([closed.type, closed.closeReason, minutes(closed.endedAtMs)], ['closed', 'recovered', 36]);
  const open = revisionsOf([...away(6, 40, 50), ...missing(60)]).at(-1)!;
  assert.notEqual(open.type, 'closed', 'nobody saw its end');
});

test('an alarm far beyond an event whose values were back begins another one', () => {
  const faint = [...away(4, 15, 16), ...typical(8)];
  const events = Map.groupBy(revisionsOf([...faint, ...away(20, 60, 80)]), ({ eventId }) => eventId);
  const [first, second] = [...events.values()].map((revisions) => revisions[revisions.length - 1]);
  assert.equal(events.size, 2);
  assert.deepEqual([first.closeReason, minutes(first.endedAtMs), minutes(first.lastAlarmAtMs)], ['recovered', 4, 3]);
  assert.deepEqual([minutes(second.startedAtMs), second.kind], [12, 'level_shift']);
  const alike = revisionsOf([...faint, ...away(20, 17, 20)]);
  assert.equal(new Set(alike.map(({ eventId }) => eventId)).size, 1, 'what returns as it was goes on');
});
