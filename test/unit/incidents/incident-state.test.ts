import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NAMED_CHARACTERS_MAX, NAMED_MAX, QUIET_MS, UPDATE_MS } from '../../../src/incidents/incident-state.ts';
import { Dependencies, NO_DEPENDENCIES } from '../../../src/incidents/membership/dependencies.ts';
import type { AnomalyEvent } from '../../../src/records/anomaly-event.ts';
import { endedIncidents, KeptIncidents, STEP_MS } from '../../fixture/incidents/kept-incidents.ts';
import { anomalyEvent } from '../../fixture/stream/anomaly-event.ts';

const START = Date.UTC(2026, 0, 10);
const LATER = START + 1_000_000 * STEP_MS;

let ids = 0;
function opened(series: string | null, minute: number, changes: Partial<AnomalyEvent> = {}): AnomalyEvent {
  const startedAtMs = START + minute * STEP_MS;
  const eventId = (ids++).toString(16).padStart(32, '0');
  return anomalyEvent({ eventId, series, startedAtMs, updatedAtMs: startedAtMs, grade: 0.7, labels: {}, ...changes });
}

const closed = (event: AnomalyEvent, minutes = 5): AnomalyEvent => {
  const endedAtMs = event.startedAtMs + minutes * STEP_MS;
  return { ...event, type: 'closed', revision: event.revision + 1, updatedAtMs: endedAtMs, endedAtMs };
};

/** A fleet of 40 hosts in which an event came every half hour. */
function fleet(dependencies = NO_DEPENDENCIES): KeptIncidents {
  const incidents = new KeptIncidents(dependencies);
  for (let i = 0; i < 200; i++) {
    const event = opened(`dc-${i % 2}/host-${i % 40}/cpu`, -6_000 + 30 * i);
    incidents.ingest(event, event.updatedAtMs);
    incidents.ingest(closed(event, 1), event.updatedAtMs);
    incidents.advance(event.updatedAtMs + 10 * STEP_MS);
  }
  incidents.written.length = 0;
  return incidents;
}

/** What the events become, by the series of each incident. */
function grouped(events: readonly AnomalyEvent[], dependencies = NO_DEPENDENCIES): readonly number[] {
  const incidents = fleet(dependencies);
  for (const event of events) incidents.ingest(event, LATER);
  incidents.advance(LATER);
  for (const event of events) incidents.ingest(closed(event), LATER);
  incidents.advance(LATER + QUIET_MS + 180_000);
  return endedIncidents(incidents.written)
    .map((incident) => incident.events.length)
    .sort();
}

test('near onsets of one host are one incident, and those of different hosts are not', () => {
  assert.deepEqual(grouped([opened('dc-0/host-2/cpu', 0), opened('dc-0/host-2/mem', 1)]), [2]);
  assert.deepEqual(grouped([opened('dc-0/host-2/cpu', 0), opened('dc-0/host-4/mem', 0)]), [1, 1]);
});

test('series with opaque ids are one incident if their labels match', () => {
  const labelled = (id: string, host: string) => opened(id, 0, { seriesLabels: { __name__: `metric_${id}`, host } });
  assert.deepEqual(grouped([labelled('a1', 'host-2'), labelled('b2', 'host-2')]), [2]);
  assert.deepEqual(grouped([labelled('a1', 'host-2'), labelled('b2', 'host-4')]), [1, 1]);
});

test('an event of a series whose interval had no width reports that it moved, not how far', () => {
  const incidents = fleet();
  const peak = { value: 100, expected: 0, lo: 0, hi: 1e-9, grade: 0.985 };
  incidents.ingest(opened('dc-0/host-2/up', 0, peak), LATER);
  incidents.ingest(opened('dc-0/host-2/lag', 0, { ...peak, hi: 10, grade: 0.9 }), LATER);
  incidents.advance(LATER);
  const [{ seriesCount, origins }] = incidents.written;
  assert.deepEqual([seriesCount, origins[0].series], [2, 'dc-0/host-2/lag']);
});

test('the origin of series with opaque ids is the label that they have in common', () => {
  const incidents = fleet();
  for (const [id, host, grade] of [
    ['a1', 'host-2', 0.9],
    ['b2', 'host-2', 0.9],
    ['c3', 'host-2', 0.8],
  ] as const) {
    incidents.ingest(opened(id, 0, { grade, seriesLabels: { __name__: `metric_${id}`, host } }), LATER);
  }
  incidents.advance(LATER);
  const [incident] = incidents.written;
  assert.deepEqual([incident.seriesCount, incident.origins[0].common], [3, 'host=host-2']);
});

test('near onsets of what depends on each other by a hint are one incident, and those far apart are not', () => {
  const dependencies = new Dependencies([{ labels: { service: 'web' }, on: { service: 'db' } }]);
  const [web, db] = ['web', 'db'].map((service) => `latency_${service}{service="${service}"}`);
  assert.deepEqual(grouped([opened(web, 1), opened(db, 0)]), [1, 1]);
  assert.deepEqual(grouped([opened(web, 1), opened(db, 0)], dependencies), [2]);
  assert.deepEqual(grouped([opened(web, 4), opened(db, 0)], dependencies), [1, 1]);
});

test('after a change of the hints events stay in their incident, and later ones are judged by the new hints', () => {
  const dependencies = new Dependencies([{ labels: { service: 'web' }, on: { service: 'db' } }]);
  const incidents = fleet(dependencies);
  const [web, db, later] = ['web', 'db', 'web'].map((service, i) => opened(`m${i}{service="${service}"}`, i));
  for (const event of [web, db]) incidents.ingest(event, LATER);
  incidents.advance(LATER);
  incidents.restart(NO_DEPENDENCIES);
  incidents.ingest(later, LATER);
  for (const event of [web, db, later]) incidents.ingest(closed(event), LATER);
  incidents.advance(LATER + 10 * QUIET_MS);
  const events = endedIncidents(incidents.written).map((incident) => incident.events);
  const counts = events.map(({ length }) => length);
  assert.deepEqual(counts, [3]);
});

test('many hosts at once are one incident, which knows how many are usual', () => {
  const events = Array.from({ length: 20 }, (_, i) => opened(`dc-0/host-${2 * i}/cpu`, 0));
  assert.deepEqual(grouped(events), [20]);
  const incidents = fleet();
  for (const event of events) incidents.ingest(event, LATER);
  incidents.advance(LATER);
  const last = incidents.written.at(-1)!;
  assert.equal(last.kind, 'simultaneous');
  assert.match(last.summary, /^20 series at once; usually [01]; origin unknown$/);
});

test('many series without an earlier event are one incident, of known and of other labels', () => {
  for (const idOf of [(i: number) => `dc-9/host-${100 + i}/cpu`, (i: number) => `up{app="shop",pod="shop-${i}"}`]) {
    assert.deepEqual(grouped(Array.from({ length: 20 }, (_, i) => opened(idOf(i), 0))), [20]);
  }
});

test('after a quiet of any length a fault is one incident', () => {
  const events = Array.from({ length: 20 }, (_, i) => opened(`dc-0/host-${2 * i}/cpu`, 50_000));
  assert.deepEqual(grouped(events), [20]);
});

test('two faults at once in halves of the fleet that have nothing in common stay two', () => {
  const events = Array.from({ length: 24 }, (_, i) => opened(`dc-${i % 2}/host-${i}/cpu`, 0));
  assert.deepEqual(grouped(events), [12, 12]);
});

test('detectors that stop together are one incident', () => {
  const stopped = [0, 1, 2, 0].map((detector, i) => {
    return opened(null, i % 2, {
      detector: `d${detector}`,
      kind: 'silence',
      grade: null,
      severity: null,
      seriesCount: 9,
    });
  });
  assert.deepEqual(grouped(stopped), [4]);
});

test('a late event that bridges two incidents merges the later one into the earlier one', () => {
  const incidents = fleet();
  const [one, other, bridge] = [opened('dc-0/host-2/a', 0), opened('dc-0/host-2/b', 5), opened('dc-0/host-2/c', 3)];
  for (const event of [one, other]) {
    incidents.ingest(event, LATER);
    incidents.advance(LATER);
  }
  incidents.ingest(bridge, LATER);
  incidents.advance(LATER + UPDATE_MS);
  const notified = incidents.written.map(({ incidentId, type, mergedInto }) => [incidentId, type, mergedInto]);
  assert.deepEqual(notified, [
    [one.eventId, 'opened', null],
    [other.eventId, 'opened', null],
    [other.eventId, 'merged', one.eventId],
    [one.eventId, 'updated', null],
  ]);
});

test('an incident is closed once all its events have ended and no more arrive', () => {
  const incidents = fleet();
  const event = opened('dc-0/host-2/cpu', 0);
  incidents.ingest(event, LATER);
  incidents.advance(LATER + 10 * QUIET_MS);
  incidents.ingest(closed(event), LATER + 10 * QUIET_MS);
  incidents.advance(LATER + 12 * QUIET_MS);
  const types = incidents.written.map(({ type }) => type);
  assert.deepEqual(types, ['opened', 'updated']);
  assert.equal(incidents.written.at(-1)!.endedAtMs, event.startedAtMs + 5 * STEP_MS, 'nothing of it is open');
  incidents.advance(LATER + 14 * QUIET_MS);
  assert.equal(incidents.written.at(-1)!.type, 'closed');
  assert.equal(incidents.written.at(-1)!.endedAtMs, event.startedAtMs + 5 * STEP_MS);
});

test('ten thousand events become one incident, whose revisions name each of them once', () => {
  const incidents = fleet();
  const events = Array.from({ length: 10_000 }, (_, i) => opened(`dc-0/host-${i % 500}/metric-${i % 20}-${i}`, 0));
  for (const event of events) incidents.ingest(event, LATER);
  incidents.advance(LATER);
  const named = incidents.written.map((incident) => incident.events.length);
  assert.ok(named.every((count) => count <= NAMED_MAX));
  const total = named.reduce((sum, count) => sum + count, 0);
  assert.equal(total, 10_000);
  assert.deepEqual(incidents.written.at(-1)!.eventCount, 10_000);
  assert.equal(incidents.state.open, 1);
});

test('a revision names no more than a record of Kafka holds, with the labels of its events', () => {
  const incidents = fleet();
  const labels = { note: 'x'.repeat(1_000) };
  const events = Array.from({ length: 900 }, (_, i) => opened(`dc-0/host-${i % 50}/metric-${i}`, 0, { labels }));
  for (const event of events) incidents.ingest(event, LATER);
  incidents.advance(LATER);
  const { written } = incidents;
  assert.ok(written.every((incident) => JSON.stringify(incident).length < NAMED_CHARACTERS_MAX + 10_000));
  assert.equal(new Set(written.flatMap((incident) => incident.events.map(({ eventId }) => eventId))).size, 900);
  assert.deepEqual(written[0].events[0].labels, labels);
});

test('a state of a newer version is refused, with both formats', () => {
  const { state } = new KeptIncidents();
  assert.throws(() => state.restore('format', '2'), {
    code: 'kept-by-newer',
    message: /the state of the incidents has format 2, and this version reads formats 1 to 1: run the version/,
  });
  state.restore('unknown/1', '{}');
  assert.throws(() => state.restored(), /does not know, unknown\/1/);
});
