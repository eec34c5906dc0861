import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EventRules, NO_RULES } from '../../../src/detection/event/open/event-rules.ts';
import type { AnomalyEvent } from '../../../src/records/anomaly-event.ts';
import { incidentValues } from '../../fixture/events/incident-values.ts';
import { fc } from '../../fixture/fast-check.ts';
import { inStream, type TimedValue } from '../../fixture/stream/both-ways.ts';
import { detectorConfig, START_MS, STEP_MS, streamSettings } from '../../fixture/stream/stream-run.ts';

const settings = streamSettings({ detectionSize: 4, context: 32, alarmRate: 0.01, gapLimit: 400, silenceAfter: null });

const values = incidentValues([40, -40, 400, -10], 40);

const rules: fc.Arbitrary<EventRules> = fc
  .record({
    direction: fc.constantFrom('up' as const, 'down' as const, 'both' as const),
    minDeviation: fc.constantFrom(0, 20, 100),
    validRange: fc.constantFrom(null, { min: -20, max: 300 }),
    normalRange: fc.constantFrom(null, { min: 0, max: 60 }),
    minDurationMs: fc.constantFrom(0, 2 * STEP_MS),
    coolDownMs: fc.constantFrom(0, 30 * STEP_MS),
    quietFrom: fc.constantFrom(null, 20, 60),
    stoppedAt: fc.constantFrom(null, -25),
  })
  .map(({ quietFrom, ...chosen }) => {
    const startMs = START_MS + (quietFrom ?? 0) * STEP_MS;
    return { ...NO_RULES, ...chosen, quiet: quietFrom === null ? [] : [{ startMs, endMs: startMs + 40 * STEP_MS }] };
  });

function assertWithin({ value, expected, firstAlarmAtMs }: AnomalyEvent, chosen: EventRules): void {
  const { direction, minDeviation, validRange, normalRange, quiet, stoppedAt } = chosen;
  assert.ok(value !== null);
  for (const { startMs, endMs } of quiet as readonly { startMs: number; endMs: number }[]) {
    assert.ok(firstAlarmAtMs < startMs || firstAlarmAtMs >= endMs, 'its first alarm is in no quiet time');
  }
  if (stoppedAt !== null) assert.ok(value > stoppedAt, 'its peak is no expected stop');
  if (validRange !== null && (value < validRange.min || value > validRange.max)) return;
  assert.ok(expected !== null);
  if (direction !== 'both') assert.equal(value > expected ? 'up' : 'down', direction);
  assert.ok(Math.abs(value - expected) >= minDeviation);
  if (normalRange !== null) assert.ok(value < normalRange.min || value > normalRange.max);
}

test('whatever the rules, no event breaks one, and each is still opened and closed once', async () => {
  let seen = 0;
  await fc.assert(
    fc.asyncProperty(values, rules, async (series, chosen) => {
      const observations = series.map((value, step): TimedValue => ['s', step, value]);
      const { events } = await inStream(observations, detectorConfig({ settings, events: chosen }));
      let [lastAlarmAtMs, endedAtMs] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
      for (const own of Map.groupBy(events, ({ eventId }) => eventId).values()) {
        const [opened] = own;
        const last = own[own.length - 1];
        assert.match(own.map(({ type }) => type).join(), /^opened(,updated)*(,closed)?$/);
        for (const event of own) assertWithin(event, chosen);
        assert.ok(opened.updatedAtMs - opened.firstAlarmAtMs >= chosen.minDurationMs, 'it lasted so long');
        assert.ok(opened.firstAlarmAtMs - lastAlarmAtMs >= chosen.coolDownMs, 'the one before has cooled down');
        assert.ok(opened.startedAtMs >= endedAtMs, 'it begins after the end of the one before');
        lastAlarmAtMs = last.lastAlarmAtMs;
        endedAtMs = last.endedAtMs ?? Number.POSITIVE_INFINITY;
        seen++;
      }
    }),
    { numRuns: 120 },
  );
  assert.ok(seen > 0, `only ${seen} events were seen`);
});
