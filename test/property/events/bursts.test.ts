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
    isNarrower: (context) => context.endsWith('0'),
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
          return burst.isUnusual;
        });
      };
      const counts = (name: string) => {
        const values = all.map(({ dimensions }) => dimensions.find((each) => each.name === name)!.value);
        return [...Map.groupBy(values, (value) => value)].sort(([, a], [, b]) => b.length - a.length);
      };
      const rest = (name: string, parts: number) =>
        all.length -
        counts(name)
          .slice(0, parts)
          .reduce((sum, [, { length }]) => sum + length, 0);
      const [units] = [counts('unit')];
      const isFew = units.length > 0 && rest('unit', 1) < 2 && units[0][0].endsWith('0');
      const bySeries = [...Map.groupBy(all, ({ series }) => series).values()].map(({ length }) => length);
      bySeries.sort((a, b) => b - a);
      const beyondSeries = bySeries.slice(2).reduce((sum, each) => sum + each, 0);
      const isMany = all.length >= 6 && counts('dc').length >= 4 && rest('dc', 2) >= 2;
      const expected = isMany && bySeries.length >= 4 && beyondSeries >= 2 && !isFew;
      const [forward, rotated] = [judged(all), judged([...all.slice(from), ...all.slice(0, from)])];
      assert.equal(forward.at(-1) ?? false, expected);
      assert.equal(rotated.at(-1) ?? false, expected);
      if (!expected) assert.ok(!forward.includes(true));
    }),
    { numRuns: 500 },
  );
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
