import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_VERDICT } from '../../../../src/detection/alarm/alarm.ts';
import { EventTracker } from '../../../../src/detection/event/event-tracker.ts';
import type { ForecastValue, SeenValue } from '../../../../src/detection/event/open/event-row.ts';
import { type EventRules, NO_RULES } from '../../../../src/detection/event/open/event-rules.ts';
import type { AnomalyEvent } from '../../../../src/records/anomaly-event.ts';
import { freshRings } from '../../../fixture/events/fresh-rings.ts';

const GAP = 4;
const STEP_MS = 60_000;
const EXPECTED = 10;
const SUBJECT = { detector: 'd', series: 's', group: null, labels: {}, gap: GAP, stepMs: STEP_MS };

/** A row: its value, whether it is an alarm, and where forecasts followed what came before it. */
type Row = readonly [value: number, alarm: boolean, severity?: number, expected?: number];
const calm = (rows: number): Row[] => Array.from({ length: rows }, (_, i) => [EXPECTED + (i % 2), false, 1]);

function trackerOf(rules: Partial<EventRules> = {}) {
  const rings = freshRings({ detectionSize: GAP, context: 64 });
  const tracker = new EventTracker({ ...SUBJECT, rules: { ...NO_RULES, ...rules }, idOf: (offset) => `id ${offset}` });
  let [position, elevated] = [0, 0];
  const taken: ForecastValue[] = [];
  const take = ([value, alarm, severity = alarm ? 50 : 1, expected = EXPECTED]: Row): readonly AnomalyEvent[] => {
    rings.keepDistance(position, value);
    taken.push({ value, expected, lo: expected - 2, hi: expected + 2 });
    const seen: SeenValue = {
      series: 's',
      ...taken[position],
      sharp: severity,
      rings,
      origin: 0,
      earlier: (before) => taken[before] ?? null,
    };
    const at = { position, timestampMs: position * STEP_MS, offset: position };
    position++;
    elevated = severity >= 14 ? elevated + 1 : 0;
    if (!tracker.wants(alarm, value)) return [];
    return tracker.track({
      ...at,
      verdict: { ...NO_VERDICT, grade: severity / (severity + 14), severity, alarm, elevated },
      seen: Number.isNaN(value) ? [] : [seen],
      keptOf: () => seen,
    });
  };
  return { tracker, take };
}

/** Every revision that these rows make. */
function revisionsOf(rows: readonly Row[], rules: Partial<EventRules> = {}): AnomalyEvent[] {
  const { take } = trackerOf(rules);
  return rows.flatMap(take);
}

const typesOf = (revisions: readonly AnomalyEvent[]) => revisions.map(({ type }) => type);
const opened = (revisions: readonly AnomalyEvent[]) => revisions.filter(({ type }) => type === 'opened');

test('an alarm opens an event, and a detection window without one closes it', () => {
  const revisions = revisionsOf([...calm(30), [40, true], ...calm(8)]);
  assert.deepEqual(typesOf(revisions), ['opened', 'closed']);
  const [first, last] = revisions;
  assert.deepEqual(
    [first.eventId, first.startedAtMs, first.value, first.expected, first.kind, first.direction],
    ['id 30', 30 * STEP_MS, 40, EXPECTED, 'spike', 'up'],
  );
  assert.equal(first.unusual, null, 'less than a day says nothing');
  assert.equal(first.summary, 'Spike: 40 where 10 was expected');
  assert.deepEqual(
    [last.endedAtMs, last.updatedAtMs, last.alarms, last.observations, last.closeReason],
    [31 * STEP_MS, (30 + GAP) * STEP_MS, 1, 1, 'recovered'],
  );
});

test('an alarm that comes a row behind a spike is described by the spike', () => {
  const late: Row[] = [
    [60, false, 20],
    [9, true],
  ];
  const [first, last] = revisionsOf([...calm(30), ...late, ...calm(8)]);
  assert.equal(first.summary, 'Spike: 60 where 10 was expected');
  assert.deepEqual([first.direction, first.startedAtMs, first.peakAtMs], ['up', 30 * STEP_MS, 30 * STEP_MS]);
  assert.deepEqual([first.firstAlarmAtMs, first.eventId], [31 * STEP_MS, 'id 31'], 'the alarm is where it was');
  assert.equal(first.grade, 50 / 64, 'the grade is that of the alarm');
  assert.equal(last.summary, 'Spike: 60 where 10 was expected, for 1 minute');
});

test('the way back, where forecasts follow the event, is neither its peak nor its direction nor part of its length', () => {
  const spike: Row[] = Array.from({ length: 6 }, (_, i) => [40 - i, true]);
  const back: Row[] = Array.from({ length: 6 }, (_, i) => [10 + i / 10, true, 90, 45]);
  const last = revisionsOf([...calm(30), ...spike, ...back, ...calm(20)]).at(-1)!;
  assert.deepEqual([last.type, last.direction, last.value, last.expected], ['closed', 'up', 40, EXPECTED]);
  assert.deepEqual(
    [last.kind, last.closeReason, last.peakAtMs, last.endedAtMs],
    ['level_shift', 'recovered', 30 * STEP_MS, 36 * STEP_MS],
  );
  assert.deepEqual(
    [last.alarms, last.lastAlarmAtMs, last.severity],
    [6, 35 * STEP_MS, 90],
    'alarms of the way back are none of it',
  );
  const beyond: Row[] = [[-40, true, 90, 45]];
  const both = revisionsOf([...calm(30), ...spike, ...beyond, ...calm(20)]).at(-1)!;
  assert.deepEqual([both.value, both.expected], [-40, 45], 'what goes farther than back is no way back');
});

test('where one side alone is watched the way back from the other one opens no event', () => {
  const dip: Row[] = Array.from({ length: 6 }, () => [-40, true]);
  const back: Row[] = [
    [10, true, 60, -35],
    [11, true, 60, -30],
  ];
  const rows = [...calm(30), ...dip, ...back, ...calm(3)];
  assert.deepEqual(revisionsOf([...rows, ...calm(20)], { direction: 'up' }), []);
  const near: Row = [14, true, 60];
  assert.deepEqual(
    revisionsOf([...rows, near, ...calm(20)], { direction: 'up' }),
    [],
    'nor does a row near its forecast',
  );
  assert.equal(opened(revisionsOf([...rows, ...calm(20)], { direction: 'down' })).length, 1);
  const [first] = revisionsOf([...rows, [90, true], ...calm(20)], { direction: 'up' });
  assert.deepEqual([first.value, first.startedAtMs], [90, 41 * STEP_MS], 'a rise behind it is an event of its own');
  const { tracker, take } = trackerOf({ direction: 'up' });
  for (const row of rows) take(row);
  assert.equal(tracker.close('evicted', 99 * STEP_MS), null, 'what was never reported is not closed');
});

test('an event of three rows is no burst and no new level once values are back', () => {
  const turns: Row[] = [
    [40, true],
    [-30, true],
    [40, true],
  ];
  const last = revisionsOf([...calm(30), ...turns, ...calm(20)]).at(-1)!;
  assert.deepEqual([last.kind, last.closeReason, last.endedAtMs], ['dip', 'recovered', 33 * STEP_MS]);
});

test('alarms without a window between them are one event; after it comes another', () => {
  const near: Row[] = [[40, true], ...calm(GAP - 1), [41, true]];
  assert.equal(opened(revisionsOf([...calm(30), ...near, ...calm(8)])).length, 1);
  const far: Row[] = [[40, true], ...calm(GAP + 1), [41, true]];
  assert.equal(opened(revisionsOf([...calm(30), ...far, ...calm(8)])).length, 2);
});

test('a severity that stays up holds an event open, for four windows at most', () => {
  const held = (rows: number): Row[] => calm(rows).map(([value, alarm]) => [value, alarm, 40]);
  assert.equal(opened(revisionsOf([...calm(30), [40, true], ...held(3 * GAP), [40, true]])).length, 1);
  const closed = revisionsOf([...calm(30), [40, true], ...held(5 * GAP)]).at(-1);
  assert.deepEqual([closed?.type, closed?.updatedAtMs], ['closed', (30 + 4 * GAP) * STEP_MS]);
});

test('a severity that typical rows have holds no event open, however small its peak was', () => {
  const typical: Row[] = calm(3 * GAP).map(([value, alarm]) => [value, alarm, 13]);
  const closed = revisionsOf([...calm(30), [40, true, 20], ...typical]).at(-1);
  assert.deepEqual([closed?.type, closed?.updatedAtMs], ['closed', (30 + GAP) * STEP_MS]);
});

test('an update comes when something is new, and once a window at most', () => {
  const alarms: Row[] = Array.from({ length: 20 }, (_, i) => [40 + i, true, 50 + i]);
  const revisions = revisionsOf([...calm(30), ...alarms]);
  const at = revisions.map(({ updatedAtMs }) => updatedAtMs / STEP_MS - 30);
  assert.deepEqual(at, [0, 1, 5, 9, 13, 17]);
  const actual = revisions.map(({ revision }) => revision);
  assert.deepEqual(actual, [0, 1, 2, 3, 4, 5]);
  assert.equal(revisions[3].value, 49, 'the peak is the most unusual alarm by then');
});

test('an event with a reason to end is closed once', () => {
  const { tracker, take } = trackerOf();
  for (const row of calm(30)) take(row);
  take([40, true]);
  const closed = tracker.close('evicted', 31 * STEP_MS);
  assert.deepEqual([closed?.type, closed?.revision, closed?.closeReason], ['closed', 1, 'evicted']);
  assert.equal(tracker.close('evicted', 31 * STEP_MS), null);
  assert.equal(tracker.kept()?.open, null);
});

test('a tracker continues from the kept state of another, as if it were that one', () => {
  const rows: Row[] = [...calm(30), [40, true], [40, true], ...calm(3), [52, true], ...calm(9)];
  for (let cut = 31; cut < rows.length; cut++) {
    const [first, second] = [trackerOf(), trackerOf()];
    const revisions = rows.slice(0, cut).flatMap((row) => first.take(row) ?? []);
    // The rows are in the rings of the second one too.
    for (const row of rows.slice(0, cut)) second.take([row[0], false]);
    const kept = first.tracker.kept();
    if (kept !== null) second.tracker.resume(JSON.parse(JSON.stringify(kept)));
    revisions.push(...rows.slice(cut).flatMap((row) => second.take(row) ?? []));
    assert.deepEqual(revisions, revisionsOf(rows), `cut at ${cut}`);
  }
});

test('an event shorter than the minimal duration is none; a longer one begins at its first alarm', () => {
  const rules = { minDurationMs: 2 * STEP_MS };
  assert.deepEqual(revisionsOf([...calm(30), [40, true], [40, true], ...calm(8)], rules), []);
  const [first] = revisionsOf([...calm(30), [40, true], [9, false], [40, true], ...calm(8)], rules);
  assert.deepEqual([first.startedAtMs, first.updatedAtMs], [30 * STEP_MS, 32 * STEP_MS]);
});

test('no event is opened in the cool-down of another', () => {
  const rows: Row[] = [...calm(30), [40, true], ...calm(6), [40, true], ...calm(6), [40, true]];
  assert.equal(opened(revisionsOf(rows)).length, 3);
  const starts = opened(revisionsOf(rows, { coolDownMs: 10 * STEP_MS })).map(
    ({ startedAtMs }) => startedAtMs / STEP_MS,
  );
  assert.deepEqual(starts, [30, 44]);
});

test('a value outside of the valid range is an event without an alarm', () => {
  const rules = { validRange: { min: 0, max: 60 } };
  const [first] = revisionsOf([...calm(30), [61, false], ...calm(8)], rules);
  assert.deepEqual([first.type, first.value, first.startedAtMs], ['opened', 61, 30 * STEP_MS]);
  assert.deepEqual(revisionsOf([...calm(30), [60, false]], rules), []);
});

test('an expected stop, and the row that starts again, make no event', () => {
  const rows: Row[] = [...calm(30), [0, true], [0, true], [0, true], [40, true], ...calm(8)];
  assert.equal(opened(revisionsOf(rows)).length, 1);
  assert.deepEqual(revisionsOf(rows, { stoppedAt: 0 }), []);
});

test('deviations below the minimum, values in the normal range and alarms in quiet times make no event', () => {
  const rows: Row[] = [...calm(30), [13, true], ...calm(8)];
  assert.equal(opened(revisionsOf(rows)).length, 1);
  assert.deepEqual(revisionsOf(rows, { minDeviation: 3.5 }), []);
  assert.equal(opened(revisionsOf(rows, { minDeviation: 3 })).length, 1);
  assert.deepEqual(revisionsOf(rows, { minDeviationShare: 0.31 }), []);
  assert.deepEqual(revisionsOf(rows, { normalRange: { min: 0, max: 20 } }), []);
  assert.deepEqual(revisionsOf(rows, { direction: 'down' }), []);
  assert.deepEqual(revisionsOf(rows, { quiet: [{ startMs: 30 * STEP_MS, endMs: 31 * STEP_MS }] }), []);
  assert.equal(opened(revisionsOf(rows, { quiet: [{ startMs: 31 * STEP_MS, endMs: 99 * STEP_MS }] })).length, 1);
});

test('an event begins with the first row of the run that leads to its alarm, a detection window before at most', () => {
  const lead = (rows: number): Row[] => Array.from({ length: rows }, (_, i) => [20 + (i % 2), false, 15]);
  const [first] = revisionsOf([...calm(30), ...lead(2), [40, true]]);
  assert.deepEqual([first.startedAtMs, first.firstAlarmAtMs, first.observations], [30 * STEP_MS, 32 * STEP_MS, 3]);
  assert.equal(first.eventId, 'id 32', 'its id is that of the alarm');
  const [apart] = revisionsOf([...calm(30), ...lead(2), ...calm(1), [40, true]]);
  assert.equal(apart.startedAtMs, 33 * STEP_MS);
  const [long] = revisionsOf([...calm(30), ...lead(9), [40, true]]);
  assert.equal(long.startedAtMs, (39 - GAP + 1) * STEP_MS);
});

test('values that were stuck are an event from where they began to be, not from where they move again', () => {
  const stuck: Row[] = Array.from({ length: 12 }, () => [EXPECTED, false]);
  const kindAt = (back: number) => {
    const [first] = revisionsOf([...calm(30), ...stuck, [back, true, 0]]);
    return [first.kind, first.startedAtMs, first.firstAlarmAtMs, first.value];
  };
  assert.deepEqual(kindAt(11), ['stuck', 30 * STEP_MS, 42 * STEP_MS, EXPECTED]);
  assert.deepEqual(kindAt(40), ['spike', 42 * STEP_MS, 42 * STEP_MS, 40], 'what ends it was never seen before');
});

test('regression: what lies below its forecast is a dip where too few rows are kept to classify it', () => {
  const [first] = revisionsOf([...calm(2), [-40, true]]);
  assert.deepEqual([first.kind, first.direction, first.summary], ['dip', 'down', 'Dip: -40 where 10 was expected']);
});

test('regression: stuck values are described by their value, not by the one at which they move again', () => {
  const stuck: Row[] = Array.from({ length: 12 }, () => [0, false]);
  const last = revisionsOf([...calm(30), ...stuck, [11, true, 50, 1], ...calm(20)]).at(-1)!;
  assert.deepEqual([last.kind, last.value, last.expected], ['stuck', 0, EXPECTED]);
  assert.ok(last.peakAtMs >= 30 * STEP_MS && last.peakAtMs < 42 * STEP_MS, `${last.peakAtMs / STEP_MS}`);
  assert.match(last.summary, /^Stuck value: 0 again and again where 10 was expected/);
});

test('regression: values that are stuck after another incident are described by their value and its start', () => {
  const incident: Row[] = Array.from({ length: 6 }, (_, i) => [40 + (i % 3), true]);
  const stuck: Row[] = Array.from({ length: 12 }, () => [0, true]);
  const last = revisionsOf([...calm(30), ...incident, ...stuck, ...calm(20)]).at(-1)!;
  assert.deepEqual([last.kind, last.value, last.startedAtMs], ['stuck', 0, 30 * STEP_MS]);
  assert.equal(last.summary, 'Stuck value: 0 again and again where 10 was expected, for 12 minutes');
});

test('an event of stuck values lasts as long as they are', () => {
  const stuck: Row[] = Array.from({ length: 16 }, (_, i) => [40, i < 8]);
  const [last] = revisionsOf([...calm(30), ...stuck, ...calm(20)]).filter(({ type }) => type === 'closed');
  assert.deepEqual([last.kind, last.startedAtMs], ['stuck', 30 * STEP_MS]);
  assert.ok(last.endedAtMs! > (46 - GAP) * STEP_MS, `${last.endedAtMs! / STEP_MS}`);
});

test('a stuck value lasts as long as it is repeated, whatever follows', () => {
  const stuck: Row[] = Array.from({ length: 16 }, (_, i) => [40, i < 8]);
  const back: Row[] = Array.from({ length: 5 }, (_, i) => [10 + i / 10, true, 60, 40]);
  const last = revisionsOf([...calm(30), ...stuck, ...back, ...calm(20)]).at(-1)!;
  assert.deepEqual([last.kind, last.value, last.endedAtMs], ['stuck', 40, 46 * STEP_MS]);
});

test('an event ends with the first of three typical rows; one odd row behind them does not put that off', () => {
  const odd: Row = [25, false, 10];
  const endOf = (...rows: Row[]) => {
    const closed = revisionsOf([...calm(30), [40, true], ...rows, ...calm(6)]).find(({ type }) => type === 'closed')!;
    return [closed.endedAtMs! / STEP_MS, closed.lastAlarmAtMs / STEP_MS, closed.observations];
  };
  assert.deepEqual(endOf(), [31, 30, 1]);
  assert.deepEqual(endOf(odd, odd), [33, 30, 3]);
  assert.deepEqual(endOf(odd, ...calm(1), odd), [34, 30, 4]);
  assert.deepEqual(endOf(odd, ...calm(3), odd), [32, 30, 2]);
  assert.deepEqual(endOf([Number.NaN, false], odd), [33, 30, 3]);
});

test('an event that is closed while rows deviate ends there, and the next one begins no earlier', () => {
  // Forecasts are off; values are not.
  const odd = (rows: number): Row[] => Array.from({ length: rows }, () => [EXPECTED, false, 15, EXPECTED - 15]);
  const revisions = revisionsOf([...calm(30), [40, true], ...odd(GAP + 1), [40, true], ...calm(9)]);
  const [one, other] = revisions.filter(({ type }) => type === 'closed');
  assert.deepEqual([one.startedAtMs, one.endedAtMs], [30 * STEP_MS, (30 + GAP) * STEP_MS]);
  assert.deepEqual([other.startedAtMs, other.firstAlarmAtMs], [(30 + GAP) * STEP_MS, (32 + GAP) * STEP_MS]);
});

test('a shift that stays is closed as a new level, and one that goes back as recovered', () => {
  const shifted = (rows: number): Row[] =>
    Array.from({ length: rows }, (_, i) => [40 + i / 100, i < 6, i < 6 ? 50 : 1]);
  const reasonOf = (...rows: Row[]) => {
    const closed = revisionsOf([...calm(30), ...rows]).find(({ type }) => type === 'closed');
    return [closed?.kind, closed?.closeReason];
  };
  assert.deepEqual(reasonOf(...shifted(40)), ['level_shift', 'new_level']);
  assert.deepEqual(reasonOf(...shifted(14), ...calm(30)), ['level_shift', 'recovered']);
});

test('an alarm of the seasonal profile is described by what its time of the week usually shows', () => {
  const { tracker, take } = trackerOf();
  for (const row of calm(30)) take(row);
  const rings = freshRings({ detectionSize: GAP, context: 64 });
  const seen: SeenValue = { series: 's', value: 11, expected: EXPECTED, lo: 8, hi: 12, sharp: 1, rings, origin: 0 };
  const row = (position: number, alarm: boolean) => ({
    position,
    timestampMs: position * STEP_MS,
    offset: position,
    verdict: {
      grade: 0.1,
      severity: alarm ? 1 : 0,
      alarm,
      season: alarm
        ? { expected: 20, deviation: 2, recentMean: 12, raised: true, localMs: Date.UTC(2026, 2, 3, 9) }
        : null,
      elevated: 0,
      threshold: 0.5,
      outsideProfile: Math.max(0, 32 - position),
    },
    seen: [seen],
    keptOf: () => null,
  });
  const [reported] = tracker.track(row(30, true));
  assert.equal(reported?.expected, 20);
  assert.deepEqual([reported?.lo, reported?.hi], [16, 24]);
  assert.match(reported!.summary, /: 11, lower than usual for a Tuesday 09:00 \(usually 16 to 24\)$/);
  const [closed] = [31, 32, 33, 34].flatMap((position) => tracker.track(row(position, false)));
  assert.equal(closed?.type, 'closed');
  assert.match(closed!.summary, /\(usually 16 to 24\), for 3 minutes$/);
  assert.deepEqual([reported!.startedAtMs, closed!.endedAtMs], [29 * STEP_MS, 32 * STEP_MS]);
});

test('a value below its forecast that is high for its hour is described by the forecast', () => {
  const tracker = new EventTracker({ ...SUBJECT, rules: NO_RULES, idOf: String });
  const rings = freshRings({ detectionSize: GAP, context: 64 });
  const localMs = Date.UTC(2026, 2, 3, 9);
  const season = { expected: 20, deviation: 2, recentMean: 30, raised: false, localMs };
  const summaryOf = (value: number) =>
    tracker.track({
      position: 0,
      timestampMs: 0,
      offset: 0,
      verdict: { grade: 0.5, severity: 20, alarm: true, season, elevated: 1, outsideProfile: 1, threshold: 0.5 },
      seen: [{ series: 's', value, expected: 40, lo: 38, hi: 42, sharp: 20, rings, origin: 0 }],
      keptOf: () => null,
    })[0].summary;
  assert.equal(summaryOf(30), 'Dip: 30 where 40 was expected');
  tracker.close('evicted', 0);
  assert.equal(summaryOf(10), 'Dip: 10, lower than usual for a Tuesday 09:00 (usually 16 to 24)');
});

test('an event of a group that the seasonal profile of one member raised is of that member', () => {
  const subject = { ...SUBJECT, series: null, group: 'g' };
  const tracker = new EventTracker({ ...subject, rules: NO_RULES, idOf: String });
  const season = { expected: 20, deviation: 2, recentMean: 12, raised: true, localMs: Date.UTC(2026, 2, 3, 9) };
  const bounds = { lo: Number.NaN, hi: Number.NaN, origin: 0 };
  const [odd, other] = [40, 1].map((sharp, i) => {
    const own = i === 1 ? season : null;
    const rings = freshRings({ detectionSize: GAP, context: 64 });
    return { ...bounds, series: `m${i}`, value: 10 + i, expected: 12, sharp, season: own, rings };
  });
  const [event] = tracker.track({
    position: 0,
    timestampMs: 0,
    offset: 0,
    verdict: { grade: 0.5, severity: 20, alarm: true, season, elevated: 0, outsideProfile: 1, threshold: 0.5 },
    seen: [odd, other],
    keptOf: () => null,
  });
  assert.deepEqual([event?.value, event?.expected, event?.lo, event?.hi], [11, 20, 16, 24]);
  assert.equal(event?.summary, 'Dip: 11, in m1 alone, lower than usual for a Tuesday 09:00 (usually 16 to 24)');
});
