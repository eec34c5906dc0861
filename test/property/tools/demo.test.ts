import assert from 'node:assert/strict';
import { test } from 'node:test';
import { demoRecords, newestSteps, planFeed } from '../../../src/demo/demo-feed.ts';
import { STEPS_PER_DAY } from '../../../src/demo/demo-plan.ts';
import { DEMO_SERIES, demoValue } from '../../../src/demo/demo-series.ts';
import { noiseAt, seedOf, uniformAt } from '../../../src/demo/hash-noise.ts';
import { fc } from '../../fixture/fast-check.ts';

const step = fc.integer({ min: 0, max: 20_000_000 });
const anySeries = fc.constantFrom(...DEMO_SERIES);

test('every value can be computed alone: order and repetition change nothing', () => {
  fc.assert(
    fc.property(anySeries, fc.array(step, { minLength: 2, maxLength: 20 }), (series, steps) => {
      const forwards = steps.map((at) => demoValue(series, at));
      const backwards = steps.toReversed().map((at) => demoValue(series, at));
      assert.deepEqual(backwards.toReversed(), forwards);
      assert.ok(forwards.every((value) => Number.isFinite(value) && value >= 0));
    }),
  );
});

test('hashed noise keeps its bounds', () => {
  fc.assert(
    fc.property(fc.string(), fc.integer(), fc.nat(10), (text, place, draw) => {
      const uniform = uniformAt(seedOf(text), place, draw);
      assert.ok(uniform >= 0 && uniform < 1);
      assert.ok(Math.abs(noiseAt(seedOf(text), place)) <= 2 * Math.sqrt(3));
    }),
  );
});

/** Steps that every series has written before an interruption. A series that stops misses fewer of them. */
const BEFORE = 60;

test('wherever a feed is interrupted, the next one continues without a gap or a repetition', () => {
  const cuts = fc.array(fc.nat(6), { minLength: DEMO_SERIES.length, maxLength: DEMO_SERIES.length });
  const near = fc.oneof(step, fc.nat(2 * STEPS_PER_DAY));
  fc.assert(
    fc.property(near, cuts, (from, written) => {
      // Of seven steps each series has written some by chance: partitions are written each on its own.
      const first = demoRecords(from - BEFORE, from + 7, new Map());
      const cutOf = new Map(DEMO_SERIES.map(({ id }, i) => [id, from + written[i]]));
      const kept = first.filter(({ value }) => {
        const [[id, at]] = newestSteps([value]);
        return at <= cutOf.get(id)!;
      });
      const plan = planFeed(newestSteps(kept.map(({ value }) => value)), Number.MAX_SAFE_INTEGER);
      const second = demoRecords(plan.start, from + 7, plan.newest);
      const text = (records: typeof first) => records.map(({ value }) => value.toString()).sort();
      assert.deepEqual(text([...kept, ...second]), text(first));
      assert.ok(plan.liveStart <= from + 7);
    }),
  );
});
