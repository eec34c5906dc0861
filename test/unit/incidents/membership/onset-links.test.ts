import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UPDATE_MS } from '../../../../src/incidents/incident-state.ts';
import { NewFleet } from '../../../../src/incidents/membership/new-fleet.ts';
import { labelContext } from '../../../../src/incidents/membership/series-parts.ts';
import type { AnomalyEvent } from '../../../../src/records/anomaly-event.ts';
import { endedIncidents, KeptIncidents, STEP_MS } from '../../../fixture/incidents/kept-incidents.ts';
import { seededRandom } from '../../../fixture/seeded-random.ts';
import { anomalyEvent } from '../../../fixture/stream/anomaly-event.ts';

const START = Date.UTC(2026, 0, 10);
const WEEK_MS = 7 * 86_400_000;
/** False events of so many series with the default target rate. */
const falsePerMs = (series: number) => series / WEEK_MS;
const labelled = (series: number, hosts = 100) =>
  `latency{dc="dc-${Math.floor(series / 10_000)}",env="prod",host="host-${Math.floor(series / hosts)}",unit="${series}"}`;

let ids = 0;
function opened(series: string, atMs: number): AnomalyEvent {
  const eventId = (ids++).toString(16).padStart(32, '0');
  return anomalyEvent({ eventId, series, startedAtMs: atMs, updatedAtMs: atMs, grade: 0.7, labels: {} });
}

/** Sizes of the incidents that events become in a fleet of so many series without a past, the largest first. */
function sizes(series: number | null, events: readonly AnomalyEvent[]): readonly number[] {
  const incidents = new KeptIncidents(undefined, () => (series === null ? null : new NewFleet(falsePerMs(series))));
  for (const event of events) {
    const nowMs = event.updatedAtMs;
    incidents.ingest(event, nowMs);
    incidents.ingest({ ...event, type: 'closed', revision: 1, endedAtMs: nowMs }, nowMs);
  }
  incidents.advance(START + WEEK_MS);
  return endedIncidents(incidents.written)
    .map(({ events: { length } }) => length)
    .sort((a, b) => b - a);
}

/** Events of the first `count` series within one minute, in any order of time. */
function burst(count: number, idOf: (at: number) => string): readonly AnomalyEvent[] {
  const random = seededRandom(1);
  return Array.from({ length: count }, (_, i) => opened(idOf(i), START + Math.floor(random() * STEP_MS)));
}

test('two unrelated events in one minute of 20 new series stay two incidents', () => {
  assert.deepEqual(
    sizes(
      20,
      burst(2, (i) => `shop/service-${i}/latency`),
    ),
    [1, 1],
  );
  assert.deepEqual(
    sizes(
      20,
      burst(2, (i) => labelled(i, 1)),
    ),
    [1, 1],
  );
});

test('10,000 of 1,000,000 new series in one minute are one incident, however their names are divided', () => {
  assert.deepEqual(sizes(1_000_000, burst(10_000, labelled)), [10_000]);
  for (const idOf of [(i: number) => `shop/service-${i % 300}/metric-${i}`, (i: number) => `m${i}`]) {
    assert.deepEqual(sizes(300_000, burst(3_000, idOf)), [3_000]);
  }
});

test('30 of 300 new series in one minute are one incident', () => {
  assert.deepEqual(
    sizes(
      300,
      burst(30, (i) => labelled(i, 1)),
    ),
    [30],
  );
  assert.deepEqual(
    sizes(
      300,
      burst(30, (i) => `shop/service-${i}/latency`),
    ),
    [30],
  );
});

test('a restart in the middle of a burst changes nothing', () => {
  const incidents = new KeptIncidents(undefined, () => new NewFleet(falsePerMs(300)));
  for (const [i, event] of burst(30, (at) => labelled(at, 1)).entries()) {
    incidents.ingest(event, START);
    incidents.advance(START);
    if (i % 7 === 3) incidents.restart();
  }
  incidents.advance(START + UPDATE_MS);
  const newest = incidents.written.at(-1)!;
  assert.deepEqual([newest.seriesCount, incidents.state.open, newest.usualCount], [30, 1, null]);
  assert.match(newest.summary, /^30 series at once; (likely origin|origin unknown)/);
});

test('without the size of the fleet nothing is unusual before it has a past', () => {
  assert.equal(
    sizes(
      null,
      burst(30, (i) => labelled(i, 1)),
    ).length,
    30,
  );
});

test('two causes at once in unrelated parts are two incidents, in whatever order their events are read', () => {
  const random = seededRandom(2);
  const both = Array.from({ length: 60 }, (_, i) => {
    const host = Math.floor(i / 2);
    return opened(`cpu{dc="dc-${i % 2}",env="prod",host="host-${i % 2}-${host}"}`, START);
  });
  const byCause = both.toSorted((a, b) => (a.series! < b.series! ? -1 : 1));
  const mixed = both.map((event) => ({ event, at: random() })).sort((a, b) => a.at - b.at);
  for (const events of [both, byCause, byCause.toReversed(), mixed.map(({ event }) => event)]) {
    assert.deepEqual(sizes(3_000, events), [30, 30]);
  }
});

/** Events at the target rate, of any series, in some steps around the start. */
function chance(series: number, steps: number): readonly AnomalyEvent[] {
  const random = seededRandom(4);
  return Array.from({ length: Math.round(falsePerMs(series) * steps * STEP_MS) }, () => {
    return opened(labelled(Math.floor(random() * series)), START + Math.floor((random() - 0.5) * steps) * STEP_MS);
  });
}

test('events by chance in other data centres do not join 3,000 series that move at once, whatever is read first', () => {
  const series = 300_000;
  const [moved, others] = [Array.from({ length: 3_000 }, (_, i) => opened(labelled(i), START)), chance(series, 9)];
  const inOwn = others.filter((event) => event.series!.includes('dc="dc-0"')).length;
  for (const events of [
    [...moved, ...others],
    [...others, ...moved],
  ]) {
    const [largest, next] = sizes(series, events);
    assert.ok(largest >= 3_000 && largest <= 3_000 + inOwn, `${largest} events are one incident`);
    assert.ok(next <= 3);
  }
});

test('two causes at once in two of thirty data centres stay two next to events by chance', () => {
  const series = 300_000;
  const moved = Array.from({ length: 3_000 }, (_, i) => opened(labelled((i % 2) * 20_000 + i), START));
  const [one, other, next] = sizes(series, [...moved, ...chance(series, 9)]);
  assert.ok(one <= 1_510 && other >= 1_500 && next <= 3, `${one}, ${other}, ${next}`);
});

test('a rack of 40 of a million new series is one incident if a sample shows how few share it', () => {
  const series = 1_000_000;
  const random = seededRandom(5);
  const sample = Array.from({ length: 500 }, () => labelled(Math.floor(random() * series), 40));
  const fleet = new NewFleet(falsePerMs(series), sample);
  const incidents = new KeptIncidents(undefined, () => fleet);
  const moved = Array.from({ length: 40 }, (_, i) => opened(labelled(1_000 + i, 40), START));
  for (const event of [...chance(series, 9), ...moved]) incidents.ingest(event, START);
  const others = incidents.state.events - moved.length;
  assert.equal(incidents.state.open, others + 1);
});

test('labels that ids hide are no smaller share of a fleet for that', () => {
  const fleet = new NewFleet(1, ['a{host="h1"}', 'a{host="h2"}', 'b{dc="x",host="h2"}', 'c{host="h3"}']);
  assert.equal(fleet.shareOf(labelContext('host', 'h1')), 3 / 4);
  assert.equal(fleet.shareOf(labelContext('dc', 'x')), 1);
  assert.equal(fleet.shareOf(labelContext('team', 'shop')), 1);
});

test('events at once are one incident also if the size of the fleet is known only later', () => {
  let size: NewFleet | null = null;
  const incidents = new KeptIncidents(undefined, () => size);
  for (const event of burst(30, (at) => labelled(at, 1))) incidents.ingest(event, START);
  incidents.advance(START);
  assert.equal(incidents.state.open, 30);
  incidents.restart();
  size = new NewFleet(falsePerMs(300));
  incidents.advance(START + UPDATE_MS);
  assert.equal(incidents.state.open, 1);
});

test('events of 100,000 new series at their target rate stay alone, for hours', () => {
  const random = seededRandom(3);
  const hours = 4;
  const expected = falsePerMs(100_000) * hours * 3_600_000;
  for (const count of [expected, 2 * expected].map(Math.round)) {
    const events = Array.from({ length: count }, () => {
      const atMs = START + Math.floor(random() * hours * 60) * STEP_MS;
      return opened(labelled(Math.floor(random() * 100_000)), atMs);
    });
    events.sort((a, b) => a.startedAtMs - b.startedAtMs);
    const found = sizes(100_000, events);
    assert.ok(found[0] <= 3, `${found[0]} events of ${count} are one incident`);
  }
});
