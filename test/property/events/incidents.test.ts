/** Laws of incidents, for any events, however partitions are read and however often the owner changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QUIET_MS } from '../../../src/incidents/incident-state.ts';
import { Dependencies } from '../../../src/incidents/membership/dependencies.ts';
import { partsOf } from '../../../src/incidents/membership/series-parts.ts';
import {
  DEPENDED_ON_TIMES,
  rankOrigins,
  type SeriesMove,
  weightOf,
} from '../../../src/incidents/origins/rank-origins.ts';
import type { AnomalyEvent } from '../../../src/records/anomaly-event.ts';
import type { Dependency } from '../../../src/records/dependency.ts';
import { fc } from '../../fixture/fast-check.ts';
import { endedIncidents, KeptIncidents, STEP_MS } from '../../fixture/incidents/kept-incidents.ts';
import { anomalyEvent } from '../../fixture/stream/anomaly-event.ts';

const START = Date.UTC(2026, 0, 1);
const PARTITIONS = 3;
/** Days before, so that rates are known. */
const DAY = 24 * 60 * STEP_MS;

interface Fault {
  readonly host: number;
  readonly metric: number;
  readonly minute: number;
  readonly lasts: number;
  readonly grade: number;
  readonly isPause: boolean;
}

const faults = fc.array(
  fc.record({
    host: fc.integer({ min: 0, max: 7 }),
    metric: fc.integer({ min: 0, max: 3 }),
    minute: fc.integer({ min: 0, max: 20 }),
    lasts: fc.integer({ min: 0, max: 9 }),
    grade: fc.double({ min: 0.5, max: 0.99, noNaN: true }),
    isPause: fc.boolean(),
  }),
  { minLength: 1, maxLength: 40 },
);
/** Between hosts, which labels of detectors name. */
const host = fc.integer({ min: 0, max: 7 }).map((each) => ({ host: `${each}` }));
const dependsOn = fc.array(fc.record({ labels: host, on: host }), { maxLength: 4 });
const order = fc.infiniteStream(fc.integer({ min: 0, max: PARTITIONS - 1 }));

/** The revisions of all events, by partition, in the order they are written. */
function partitionsOf(all: readonly Fault[]): AnomalyEvent[][] {
  const partitions: AnomalyEvent[][] = Array.from({ length: PARTITIONS }, () => []);
  for (const [i, { host, metric, minute, lasts, grade, isPause }] of all.entries()) {
    const startedAtMs = START + DAY + minute * STEP_MS;
    const endedAtMs = startedAtMs + lasts * STEP_MS;
    const opened = anomalyEvent({
      eventId: i.toString(16).padStart(32, '0'),
      detector: `d${i % 4}`,
      series: isPause && i % 5 === 0 ? null : `dc-${host % 2}/host-${host}/metric-${metric}`,
      startedAtMs,
      updatedAtMs: startedAtMs,
      grade,
      severity: 20 * grade,
      labels: { host: `${host}` },
    });
    partitions[(host + metric) % PARTITIONS].push(
      opened,
      { ...opened, type: 'updated', revision: 1, updatedAtMs: endedAtMs, grade: grade ** 0.5 },
      { ...opened, type: 'closed', revision: 2, updatedAtMs: endedAtMs, endedAtMs, closeReason: 'recovered' },
    );
  }
  for (const events of partitions) events.sort((a, b) => a.updatedAtMs - b.updatedAtMs || a.revision - b.revision);
  return partitions;
}

/** Single events of the days before. */
function past(incidents: KeptIncidents): void {
  for (let i = 0; i < 40; i++) {
    const atMs = START + i * 30 * STEP_MS;
    const event = anomalyEvent({
      eventId: `past-${String(i).padStart(27, '0')}`,
      series: `dc-${i % 2}/host-${i % 8}/metric-${i % 3}`,
      startedAtMs: atMs,
      updatedAtMs: atMs,
      labels: {},
    });
    incidents.ingest(event, atMs);
    incidents.ingest({ ...event, type: 'closed', revision: 1, endedAtMs: atMs }, atMs);
    incidents.advance(atMs + 20 * STEP_MS);
  }
}

interface Reading {
  readonly turns: Iterator<number>;
  /** After how many revisions the owner changes; 0: never. */
  readonly restartEvery: number;
  /** How many revisions are decided about together. */
  readonly batch: number;
  readonly hints?: readonly Dependency[];
}

function read(all: readonly Fault[], { turns, restartEvery, batch, hints = [] }: Reading): KeptIncidents {
  const incidents = new KeptIncidents(new Dependencies(hints));
  past(incidents);
  const partitions = partitionsOf(all).map((events) => [...events]);
  const nowMs = START + 2 * DAY;
  for (let count = 1; partitions.some(({ length }) => length > 0); count++) {
    let turn: number = turns.next().value;
    while (partitions[turn].length === 0) turn = (turn + 1) % PARTITIONS;
    incidents.ingest(partitions[turn].shift()!, nowMs);
    if (count % batch === 0) incidents.advance(nowMs + count);
    if (restartEvery > 0 && count % restartEvery === 0) {
      incidents.advance(nowMs + count);
      incidents.restart();
    }
  }
  incidents.advance(nowMs + QUIET_MS);
  incidents.advance(nowMs + DAY);
  return incidents;
}

const inTurn = (): Iterator<number> => Array.from({ length: 10_000 }, (_, i) => i % PARTITIONS).values();

test('events, start and end of an incident do not depend on how partitions interleave', () => {
  fc.assert(
    fc.property(faults, order, fc.integer({ min: 1, max: 7 }), dependsOn, (all, turns, batch, hints) => {
      const one = read(all, { turns: inTurn(), restartEvery: 0, batch: 1, hints });
      const other = read(all, { turns, restartEvery: 0, batch, hints });
      assert.deepEqual(endedIncidents(other.written), endedIncidents(one.written));
    }),
    { numRuns: 60 },
  );
});

test('every event is in one incident, which is opened once and ends once', () => {
  fc.assert(
    fc.property(faults, order, fc.integer({ min: 1, max: 7 }), (all, turns, batch) => {
      const { written, state } = read(all, { turns, restartEvery: 0, batch });
      const named = written.flatMap(({ events }) => events.map(({ eventId }) => eventId));
      assert.equal(new Set(named).size, named.length, 'an event is named twice');
      assert.equal(named.filter((eventId) => !eventId.startsWith('past')).length, all.length);
      assert.equal(state.open, 0);
      for (const [incidentId, revisions] of Map.groupBy(written, (incident) => incident.incidentId)) {
        const actual = revisions.map(({ revision }) => revision);
        const expected = revisions.map((_, i) => i);
        assert.deepEqual(actual, expected);
        const types = revisions.map(({ type }) => type);
        assert.equal(types[0], 'opened', incidentId);
        assert.equal(types.filter((type) => type === 'opened').length, 1);
        assert.ok(['closed', 'merged'].includes(types.at(-1)!), incidentId);
        assert.ok(types.slice(1, -1).every((type) => type === 'updated'));
      }
    }),
    { numRuns: 60 },
  );
});

test('a restart changes nothing of what is written', () => {
  const inOrder = ({ written }: KeptIncidents) => {
    const keyOf = ({ incidentId, revision }: (typeof written)[number]) => `${incidentId} ${revision}`;
    return written.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  };
  fc.assert(
    fc.property(faults, fc.integer({ min: 1, max: 9 }), dependsOn, (all, restartEvery, hints) => {
      const once = read(all, { turns: inTurn(), restartEvery: 0, batch: 1, hints });
      const often = read(all, { turns: inTurn(), restartEvery, batch: 1, hints });
      assert.deepEqual(inOrder(often), inOrder(once));
    }),
    { numRuns: 60 },
  );
});

test('a hint takes nothing apart: events that are one incident without hints are one with them', () => {
  fc.assert(
    fc.property(faults, dependsOn, (all, hints) => {
      const [without, hinted] = [[], hints].map((each) => {
        return endedIncidents(read(all, { turns: inTurn(), restartEvery: 0, batch: 1, hints: each }).written);
      });
      for (const { events } of without) {
        const homes = new Set(events.map((id) => hinted.findIndex((incident) => incident.events.includes(id))));
        assert.equal(homes.size, 1);
      }
    }),
    { numRuns: 60 },
  );
});

const moved = fc.array(
  fc.record({
    service: fc.integer({ min: 0, max: 5 }),
    grade: fc.integer({ min: 0, max: 99 }).map((percent) => percent / 100),
    firstAlarmAtMs: fc.integer({ min: 0, max: 3 }),
  }),
  { minLength: 1, maxLength: 12 },
);
const service = fc.integer({ min: 0, max: 5 }).map((each) => ({ service: `${each}` }));

test('a hint changes the order of two origins only where one weighs at most 1.25 times as much as the other', () => {
  fc.assert(
    fc.property(moved, fc.array(fc.record({ labels: service, on: service }), { maxLength: 6 }), (all, hints) => {
      const moves = all.map((each, i): SeriesMove => {
        const series = `m${i}{service="${each.service}"}`;
        return { ...each, series, parts: partsOf(series), threshold: 0.3, isFlat: false, seen: null, led: null };
      });
      const plain = rankOrigins(moves);
      const hinted = rankOrigins(moves, new Dependencies(hints));
      const place = (common: string | null) => hinted.findIndex((origin) => origin.common === common);
      const weightsOf = Map.groupBy(moves, ({ parts }) => parts.dimensions[0].value);
      const weight = ({ common }: (typeof plain)[number]) =>
        weightsOf
          .get(common!)!
          .map(weightOf)
          .sort((a, b) => b - a)
          .reduce((sum, each, at) => sum + each / (at + 1), 0);
      for (const [i, one] of plain.entries()) {
        for (const other of plain.slice(i + 1)) {
          const isClear = weight(one) > DEPENDED_ON_TIMES * weight(other) + 1e-9;
          if (isClear && place(other.common) !== -1) assert.ok(place(one.common) < place(other.common));
        }
      }
    }),
  );
});
