import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonScores } from '../../../src/codecs/json-scores.ts';
import { SCORE_STATES, type ScoreRecord } from '../../../src/records/score-record.ts';
import { fc } from '../../fixture/fast-check.ts';
import { scoreRecord } from '../../fixture/stream/score-record.ts';

function assertEqual(written: Buffer, score: ScoreRecord): void {
  assert.equal(written.toString(), JSON.stringify(score));
}

test('scores are written as JSON.stringify writes them', () => {
  const encode = jsonScores();
  const number = fc.oneof(fc.double(), fc.integer(), fc.float());
  const numberOrNull = fc.option(number);
  const id = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constant('web-1/cpu'));
  const changes = fc.record({
    series: id,
    detector: fc.constantFrom('cpu', 'Größe', 'a "quoted" one'),
    model: fc.constantFrom('tide-small', 'my/own'),
    modelDigest: fc.constantFrom('0123', '4567'),
    group: fc.option(id),
    timestampMs: fc.integer(),
    value: number,
    forecast: numberOrNull,
    lo: numberOrNull,
    hi: numberOrNull,
    level: fc.constantFrom(99, 99.5),
    anomalyScore: numberOrNull,
    accumulatedAnomalyScore: numberOrNull,
    anomaly: fc.boolean(),
    grade: numberOrNull,
    severity: numberOrNull,
    alarm: fc.boolean(),
    state: fc.constantFrom(...SCORE_STATES),
    cause: fc.constantFrom(null, null, 'event-time' as const),
    position: fc.nat(),
    restarted: fc.boolean(),
    input: fc.record({ topic: fc.constantFrom('a', 'b.c'), partition: fc.nat(), offset: fc.maxSafeNat() }),
  });
  fc.assert(
    fc.property(changes, (changed) => {
      const score = scoreRecord(changed);
      assertEqual(encode(score), score);
    }),
    { numRuns: 2_000 },
  );
});

test('scores of more detectors and topics than there is room for are written, too', () => {
  const encode = jsonScores();
  for (let i = 0; i < 2_000; i++) {
    const score = scoreRecord({ detector: `detector-${i}`, input: { topic: `topic-${i}`, partition: 0, offset: i } });
    assertEqual(encode(score), score);
  }
});

test('ids that are longer than any id may be are written, too', () => {
  const score = scoreRecord({ series: 'x'.repeat(70_000) });
  assertEqual(jsonScores()(score), score);
});
