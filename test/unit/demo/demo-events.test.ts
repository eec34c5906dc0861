import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DemoEvents } from '../../../src/demo/demo-events.ts';
import { DEMO_SERIES, incidentOf } from '../../../src/demo/demo-series.ts';
import { timeOf } from '../../../src/demo/demo-time.ts';
import { SCORE_LINE_STYLE } from '../../../src/tools/terminal/score-line.ts';
import { anomalyEvent } from '../../fixture/stream/anomaly-event.ts';

const LIVE_START = 6_000_000;
const shifted = DEMO_SERIES.find(({ incident, group }) => incident === 'level-shift' && group === null)!;
const calm = DEMO_SERIES.find(({ incident }) => incident === null)!;
/** First live step in which the series has its incident. */
const during = Array.from({ length: 2_000 }, (_, i) => LIVE_START + i).find((step) => incidentOf(shifted, step))!;

function eventAt(step: number, changes: Partial<ReturnType<typeof anomalyEvent>> = {}) {
  return anomalyEvent({ series: shifted.id, startedAtMs: timeOf(step), updatedAtMs: timeOf(step), ...changes });
}

test('a live event stands beside the incident that it found, or is said to be a false alarm', () => {
  const events = new DemoEvents(LIVE_START, SCORE_LINE_STYLE);
  const [found, wrong, ...others] = events.take(
    [eventAt(during), eventAt(during, { type: 'updated', revision: 1 }), eventAt(during, { series: calm.id })],
    true,
  );
  assert.match(found, / {2}<- level shift$/);
  assert.match(wrong, / {2}<- nothing: a false alarm$/);
  assert.deepEqual(others, []);
});

test('an event of a group is explained by its members', () => {
  const events = new DemoEvents(LIVE_START, SCORE_LINE_STYLE);
  const members = [calm, shifted].map(({ id }) => ({ series: id, share: 0.5 }));
  const [line] = events.take([eventAt(during, { series: null, group: 'both', members })], true);
  assert.match(line, /group both .* <- level shift$/);
});

test('events of the history are summed up once, when the live scores run', () => {
  const events = new DemoEvents(LIVE_START + 10_000, SCORE_LINE_STYLE);
  const past = Array.from({ length: 7 }, (_, i) => eventAt(during, { eventId: String(i) }));
  assert.deepEqual(events.take([...past, eventAt(during, { eventId: 'x', series: calm.id })], false), []);
  const early = LIVE_START + 10_000;
  assert.deepEqual(events.take([eventAt(early, { eventId: 'y', series: calm.id })], false), []);
  assert.deepEqual(events.summary(false, 0), []);
  assert.deepEqual(events.summary(true, 1_000), [], 'more of them may come');
  const [sum, ...lines] = events.summary(true, 3_000);
  assert.equal(sum, 'In the history: 8 events, 7 of them incidents of the demo, lately:');
  assert.equal(lines.length, 6);
  assert.match(lines[5], /<- nothing: a false alarm$/, 'a live one that came too early');
  assert.deepEqual(events.summary(true, 9_000), []);
});
