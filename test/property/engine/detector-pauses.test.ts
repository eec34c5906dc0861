import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnomalyEvent } from '../../../src/records/anomaly-event.ts';
import { fc } from '../../fixture/fast-check.ts';
import { assertSamePublished, disturbances, disturbedRun, scoresOf } from '../../fixture/stream/disturbed-run.ts';
import { detectorConfig, observationRecord, streamSettings, TOPICS } from '../../fixture/stream/stream-run.ts';
import type { MemoryBroker } from '../../fixture/stream-log/memory-log.ts';

const settings = streamSettings({ context: 300, gapLimit: 300, silenceAfter: 3 });
const detectors = [
  detectorConfig({ name: 'a', series: ['a*'], settings }),
  detectorConfig({ name: 'b', series: ['b*'], settings: { ...settings, latenessMs: 60_000 } }),
];
const SERIES = ['a1', 'a2', 'a3', 'b1', 'b2'];
const STEPS = 90;

/** Stretches without a record: of one series, or of all of a detector. */
const stops = fc.array(
  fc.record({
    whose: fc.constantFrom(...SERIES, 'a', 'a', 'b', 'b'),
    from: fc.integer({ min: 10, max: STEPS }),
    steps: fc.integer({ min: 1, max: 30 }),
  }),
  { maxLength: 6 },
);

/** Every revision, in the order in which they are published. */
function eventsOf(broker: MemoryBroker): AnomalyEvent[] {
  return broker.read(TOPICS.events, 0).map(({ value }) => JSON.parse(value!.toString()));
}

test('a pause is opened and closed once, its series are not silent meanwhile, and no disturbance changes that', async () => {
  let pauses = 0;
  await fc.assert(
    fc.asyncProperty(stops, disturbances, async (stretches, disturbed) => {
      const input = Array.from({ length: STEPS }, (_, step) => step).flatMap((step) =>
        SERIES.filter(
          (series) =>
            !stretches.some(
              ({ whose, from, steps }) => series.startsWith(whose) && step >= from && step < from + steps,
            ),
        ).map((series) => observationRecord(series, step, step % 5)),
      );
      const whole = await disturbedRun({ detectors }, input, []);
      const inPause = new Set<string>();
      for (const { kind, type, detector, series, seriesCount } of eventsOf(whole)) {
        if (kind !== 'silence') continue;
        if (seriesCount === null) {
          assert.ok(series !== null && (type === 'closed' || !inPause.has(detector)), `${series} in a pause`);
          continue;
        }
        assert.equal(series, null);
        assert.ok(seriesCount >= 2);
        assert.equal(inPause.has(detector), type === 'closed');
        if (type === 'opened') inPause.add(detector);
        else inPause.delete(detector);
        pauses++;
      }
      const silent = scoresOf(whole).filter(({ state }) => state === 'silent').length;
      const events = eventsOf(whole).filter(
        ({ kind, type, series }) => kind === 'silence' && type === 'opened' && series,
      );
      assert.equal(silent, events.length);
      assertSamePublished(await disturbedRun({ detectors }, input, disturbed), whole);
    }),
    { numRuns: 25 },
  );
  assert.ok(pauses > 0, `only ${pauses} revisions of pauses`);
});
