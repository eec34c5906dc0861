import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOpenSteps, writeOpenSteps } from '../../../src/checkpoint/open-step-state.ts';
import { StateReader, StateWriter } from '../../../src/checkpoint/state-bytes.ts';
import { OpenSteps } from '../../../src/engine/unit/open-steps.ts';
import { fc } from '../../fixture/fast-check.ts';
import { START_MS, STEP_MS, streamSettings } from '../../fixture/stream/stream-run.ts';

const arrivals = fc.array(
  fc.record({
    series: fc.constantFrom('a', 'b'),
    at: fc.integer({ min: -90_000, max: 60_000 }),
    value: fc.double({ noNaN: true, min: -1e6, max: 1e6 }),
    aheadMs: fc.constantFrom(0, 0, 90_000),
    headers: fc.constantFrom(undefined, [
      ['trace', Buffer.from([0xff])],
      ['trace', null],
    ] as const),
    extras: fc.constantFrom(
      undefined,
      undefined,
      { startMs: START_MS },
      { startMs: START_MS + 30_000 },
      { startMs: START_MS - 60_000, isDelta: true },
      { low: 100 },
    ),
    writes: fc.boolean(),
    closes: fc.constantFrom(false, false, false, false, false, true),
  }),
  { maxLength: 60 },
);

/** What a unit goes on with; the marks of what was written are none of it. */
const kept = ({ all, points, silentOffset }: OpenSteps) => [
  [...all.values()].map(({ written: _, ...own }) => own),
  points,
  silentOffset,
];

test('whole states and changes restore the points of a unit exactly, wherever they were written', () => {
  const settings = streamSettings({ aggregate: 'mean', as: 'rate', latenessMs: STEP_MS });
  const place = { partition: 3, group: null };
  fc.assert(
    fc.property(arrivals, (drawn) => {
      const open = new OpenSteps(settings, place);
      let entries: Buffer[] = [];
      drawn.forEach(({ series, at, value, extras, aheadMs, headers, writes, closes }, i) => {
        const timestampMs = START_MS + i * 20_000 + at;
        const record = {
          partition: 3,
          offset: i,
          timestampMs: i,
          key: Buffer.from(i % 3 === 0 ? 'key' : series),
          value: null,
        };
        const observation = {
          series,
          group: null,
          timestampMs,
          value,
          extras,
          record: { ...record, ...(headers && { headers }) },
        };
        open.add(observation, timestampMs + aheadMs, []);
        if (closes) open.close(open.all.get(series) ?? null);
        if (!writes) return;
        const writer = new StateWriter();
        const isChange = !open.whole && i % 7 !== 0;
        if (!isChange) entries = [];
        writeOpenSteps(writer, open, isChange);
        entries.push(writer.drain());
        const restored = new OpenSteps(settings, place);
        for (const bytes of entries) restored.resume(readOpenSteps(new StateReader(bytes)));
        assert.deepEqual(kept(restored), kept(open));
      });
    }),
    { numRuns: 300 },
  );
});
