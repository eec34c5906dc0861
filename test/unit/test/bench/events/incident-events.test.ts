import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventSpans } from '../../../../bench/events/event-rows.ts';
import { incidentRecord } from '../../../../bench/events/incident-events.ts';
import { anomalyEvent } from '../../../../fixture/stream/anomaly-event.ts';

const STEP_MS = 60_000;
const ROWS = 1_000;
const times = Float64Array.from({ length: ROWS }, (_, row) => row * STEP_MS);

/** Revisions of an event with alarms from `start` on, to but without `end`, opened at `opened`. */
function revisions(start: number, end: number, opened = start) {
  const eventId = String(start);
  const startedAtMs = times[start];
  const endedAtMs = times[end - 1];
  return [
    anomalyEvent({ eventId, startedAtMs, updatedAtMs: times[opened] }),
    anomalyEvent({ eventId, type: 'closed', revision: 1, kind: 'level_shift', startedAtMs, endedAtMs }),
  ];
}

test('an incident is found by the events that reach into the rows around it', () => {
  const labels = new Uint8Array(ROWS).fill(1, 300, 400).fill(1, 700, 701);
  const input = {
    name: 's02',
    source: '',
    stepMs: STEP_MS,
    split: 0,
    vusWindow: 0,
    times,
    channels: [],
    labels,
  };
  const all = [
    // The first is of no incident: it ends 24 rows before one, where the next one begins.
    ...[revisions(100, 276), revisions(280, 310, 305), revisions(447, 450), revisions(448, 460)],
  ];
  const record = incidentRecord(input, eventSpans(all.flat(), input));
  assert.deepEqual(record.incidents, [
    { events: 2, delay: 5 },
    { events: 0, delay: null },
  ]);
  assert.deepEqual([record.events, record.others], [4, 2]);
  assert.equal(record.days, (ROWS * STEP_MS) / 86_400_000);
});
