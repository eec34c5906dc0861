/** The law of many at once: which onsets are one incident, by definition and for fleets of any size. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Burst, type BurstLimit, burstGrid, windowsOf } from '../../../src/incidents/membership/bursts.ts';
import { NewFleet } from '../../../src/incidents/membership/new-fleet.ts';
import { fc } from '../../fixture/fast-check.ts';
import { endedIncidents, KeptIncidents, STEP_MS } from '../../fixture/incidents/kept-incidents.ts';
import { seededRandom } from '../../fixture/seeded-random.ts';
import { anomalyEvent } from '../../fixture/stream/anomaly-event.ts';

const START = Date.UTC(2026, 0, 10);
const WEEK_MS = 7 * 86_400_000;

test('onsets within a step of each other have a window in common, and no others farther than a window', () => {
  const ms = fc.integer({ min: 0, max: 600_000 });
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 120_000 }), ms, ms, (stepMs, one, other) => {
      const grid = burstGrid(stepMs);
      const isShared = windowsOf(grid, one).some((window) => windowsOf(grid, other).includes(window));
      if (Math.abs(one - other) <= grid.withinMs) assert.ok(isShared);
      if (Math.abs(one - other) >= grid.windowMs) assert.ok(!isShared);
    }),
  );
});

test('whether a burst is unusual is a function of its onsets, and more of them never make it usual', () => {
  const onset = fc.record({ dc: fc.nat(6), host: fc.nat(3), unit: fc.nat(2) });
  const limit: BurstLimit = {
    needed: 6,
    neededBeyond: 2,
    splits: ['dc'],
    others: ['unit'],
  };
  fc.assert(
    fc.property(fc.array(onset, { maxLength: 20 }), fc.nat(20), (onsets, from) => {
      const all = onsets.map(({ dc, host, unit }, i) => {
        const dimensions = Object.entries({ dc, unit }).map(([name, value]) => ({ name, value: `${name}=${value}` }));
        return { eventId: String(i), series: `${dc}/${host}/${unit}`, dimensions, atMs: 0 };
      });
      const judged = (order: typeof all) => {
        const burst = new Burst({ stepMs: STEP_MS, window: 0, context: 'fleet' });
        return order.map((each) => {
          burst.add(each);
          burst.judge(limit);
          return new Set(all.filter((one) => burst.isUnusual(one)));
        });
      };
      const partOf = (each: (typeof all)[number], name: string) =>
        each.dimensions.find((dimension) => dimension.name === name)?.value ?? each.series;
      const largest = (name: string) =>
        [...Map.groupBy(all, (each) => partOf(each, name))].sort(([, a], [, b]) => b.length - a.length);
      const beyond = (name: string, parts: number) =>
        largest(name)
          .slice(parts)
          .reduce((rest, [, { length }]) => rest + length, 0);
      const isMany = ['dc', 'series'].every((name) => largest(name).length >= 4 && beyond(name, 2) >= 2);
      const expected = all.length >= 6 && isMany ? all : [];
      const [forward, rotated] = [judged(all), judged([...all.slice(from), ...all.slice(0, from)])];
      const newest = forward.at(-1) ?? new Set();
      // Without the one or two largest units one onset at most is left: chance.
      const parts = [1, 2].find((count) => beyond('unit', count) < 2);
      const few = all.length - expected.length + (parts === undefined ? 0 : beyond('unit', parts));
      assert.equal(newest.size, expected.length === 0 ? 0 : all.length - few);
      assert.equal((rotated.at(-1) ?? new Set()).size, newest.size);
      for (const [i, earlier] of forward.entries()) {
        for (const each of earlier) assert.ok(all.indexOf(each) <= i || newest.has(each));
      }
    }),
    { numRuns: 500 },
  );
});

test('after a larger number was needed for a time, all onsets are judged again', () => {
  const burst = new Burst({ stepMs: STEP_MS, window: 0, context: 'fleet' });
  const judgedAfter = (series: string, needed: number) => {
    burst.add({ eventId: series, series, dimensions: [], atMs: 0 });
    return burst.judge({ needed, neededBeyond: 1, splits: [], others: [] });
  };
  for (const series of ['a', 'b', 'c', 'd']) assert.equal(judgedAfter(series, 4), false);
  assert.equal(judgedAfter('e', 4), true);
  assert.equal(judgedAfter('f', 9), false);
  assert.equal(judgedAfter('g', 4), false, 'f is not linked yet');
  assert.equal(judgedAfter('h', 4), true);
});

test('series of one data centre that move at once are one incident without what others raise by chance', () => {
  const fleet = fc.record({
    series: fc.constantFrom(10, 1_000, 30_000, 300_000),
    dcs: fc.constantFrom(1, 5, 20),
    share: fc.constantFrom(0.001, 0.01, 0.05, 0.5),
    /** Steps within which they move. */
    spread: fc.constantFrom(0, 0.5, 1, 2),
    seed: fc.nat(1_000),
  });
  fc.assert(
    fc.property(fleet, ({ series, dcs, share, spread, seed }) => {
      const random = seededRandom(seed);
      const idOf = (i: number) => `latency{dc="dc-${i % dcs}",host="host-${i % (20 * dcs)}",unit="${i}"}`;
      const perStep = (series / WEEK_MS) * STEP_MS;
      // Well above what the target allows in two steps, and above the least number.
      const least = 30 * perStep * Math.max(1, spread) + 8;
      const count = Math.ceil(Math.max(series * share, least));
      if (count * dcs > series || count > 3_000) return;
      const incidents = new KeptIncidents(undefined, () => new NewFleet(series / WEEK_MS));
      const moved = Array.from({ length: count }, (_, i) => ({ series: i * dcs, at: spread * random() * STEP_MS }));
      const byChance = Array.from({ length: Math.round(8 * perStep) }, () => {
        return { series: Math.floor(random() * series), at: (8 * random() - 4) * STEP_MS };
      });
      const others = byChance.filter((each) => each.series % dcs !== 0);
      const all = [...moved, ...others].map((each, i) => ({ ...each, i, order: random() }));
      for (const { series: each, at, i } of all.sort((a, b) => a.order - b.order)) {
        const startedAtMs = START + Math.floor(at);
        const eventId = i.toString(16).padStart(32, '0');
        const opened = anomalyEvent({ eventId, series: idOf(each), startedAtMs, updatedAtMs: startedAtMs, labels: {} });
        incidents.ingest(opened, START);
        incidents.ingest({ ...opened, type: 'closed', revision: 1, endedAtMs: startedAtMs }, START);
      }
      incidents.advance(START + WEEK_MS);
      const [largest] = endedIncidents(incidents.written).toSorted((a, b) => b.events.length - a.events.length);
      assert.equal(largest.events.length, count);
      assert.ok(largest.events.every((eventId) => Number.parseInt(eventId, 16) < count));
    }),
    { numRuns: 25 },
  );
});
