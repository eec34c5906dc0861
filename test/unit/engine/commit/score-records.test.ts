import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type DecodedRecords,
  divideDecoded,
  UNKNOWN_LETTERS_MAX,
} from '../../../../src/engine/commit/score-records.ts';
import type { InputRecord, SkippedRange, StreamLog } from '../../../../src/engine/log/log.ts';
import type { DeadLetterReason } from '../../../../src/records/dead-letter.ts';
import {
  detectorConfig,
  lines,
  observationRecord,
  observed,
  START_MS,
  STEP_MS,
  streamRun,
  TOPICS,
} from '../../../fixture/stream/stream-run.ts';

/** A log on which a range cannot be read: it is delivered in place of the records of these offsets. */
function skippingLog(log: StreamLog, skipped: SkippedRange): StreamLog {
  const marker = { partition: 0, offset: skipped.last, timestampMs: -1, key: null, value: null, skipped };
  return {
    ...log,
    subscribe: (handlers) =>
      log.subscribe({
        ...handlers,
        onRecords(partition, records, nextOffset) {
          const isLost = ({ offset }: InputRecord) => offset >= skipped.first && offset <= skipped.last;
          const before = records.filter(({ offset }) => offset < skipped.first);
          const after = records.filter(({ offset }) => offset > skipped.last);
          handlers.onRecords(partition, before, (before.at(-1)?.offset ?? -1) + 1);
          if (records.some(isLost)) handlers.onRecords(partition, [marker], skipped.last + 1);
          handlers.onRecords(partition, after, nextOffset);
        },
      }),
  };
}

test('a skipped range of offsets is one dead letter and is counted, and the commit covers it', async () => {
  const run = streamRun();
  run.feed(observed('s', '0:0 1:1 2:2 3:3 4:4'));
  const skipped: SkippedRange = { first: 2, last: 4, reason: 'records-expired' };
  await run.scoreAll({ log: skippingLog(run.broker.openLog(), skipped) });
  run.feed(observed('s', '0:0'));
  await run.scoreAll();
  const letters = run.deadLetters().filter(({ reason }) => reason !== 'late');
  const actual = lines(letters, 'reason', ({ input }) => JSON.stringify(input));
  assert.deepEqual(actual, [
    'records-expired {"topic":"observations","partition":0,"offset":2,"lastOffset":4,"timestampMs":-1}',
  ]);
  assert.deepEqual(
    lines(run.scores(), ({ input }) => input.offset),
    ['0', '1'],
  );
  assert.equal(run.total('skippedOffsets'), 3);
});

test('of records that no detector watches the first of an assignment are dead letters, and all are counted', async () => {
  const run = streamRun({ detectors: [detectorConfig({ series: ['s'] })] });
  const unknown = UNKNOWN_LETTERS_MAX + 50;
  for (let step = 0; step < unknown; step++) {
    run.broker.append(0, Buffer.from('x'), observationRecord('x', step, 1).value);
    run.broker.append(0, Buffer.from('s'), Buffer.from('{'));
  }
  const counted = () =>
    ['series-unknown', 'record-unreadable'].map((reason) =>
      run.total(({ deadLetters }) => deadLetters[reason as DeadLetterReason] ?? 0),
    );
  await run.scoreAll();
  assert.deepEqual(counted(), [unknown, unknown]);
  const written = () => run.deadLetters().filter(({ reason }) => reason === 'series-unknown');
  assert.equal(run.deadLetters().length - written().length, unknown);
  assert.equal(written().length, UNKNOWN_LETTERS_MAX);
  assert.match(written().at(-1)?.detail ?? '', /further ones of this partition are only counted$/);
  assert.deepEqual([...run.tallies[0].firstLetters].map(([reason, { offset }]) => [reason, offset]).sort(), [
    ['record-unreadable', 1],
    ['series-unknown', 0],
  ]);
  run.broker.append(0, Buffer.from('x'), observationRecord('x', unknown, 1).value);
  await run.scoreAll();
  assert.equal(written().length, UNKNOWN_LETTERS_MAX + 1);
});

test('a score has the event time as its timestamp, and the headers that pass through, except the one of its own schema', async () => {
  const watermarkMs = START_MS + 1.5 * STEP_MS;
  const run = streamRun({ nowMs: () => watermarkMs });
  const headers = [
    ['constructor', Buffer.from([0xff, 0x00])],
    ['constructor', null],
  ] as const;
  const schema = ['__value_schema_id', Buffer.from([0, 0, 0, 0, 1])] as const;
  run.broker.append(0, Buffer.from('s'), observationRecord('s', 0, 1).value);
  run.broker.appendRecord(0, { ...observationRecord('s', 1, 1), headers: [...headers, schema], timestampMs: 7 });
  // Ahead of the clock, as far as may be: brokers refuse timestamps in the future.
  run.broker.append(0, Buffer.from('s'), observationRecord('s', 2, 1).value);
  await run.scoreAll();
  const actual = run.broker.read(TOPICS.scores, 0).map((score) => [score.timestampMs, score.headers]);
  assert.deepEqual(actual, [
    [START_MS, []],
    [START_MS + STEP_MS, headers],
    [watermarkMs, []],
  ]);
});

test('decoded records divide at any place, each with what was decoded of it', () => {
  const kinds = ['scored', 'refused', 'scored', 'without-value', 'without-value', 'scored'];
  const records = kinds.map((_, offset) => ({ partition: 0, offset, timestampMs: 0, key: null, value: null }));
  const cause = { reason: 'series-unknown', detail: '' } as const;
  const of = (kind: string) => records.filter(({ offset }) => kinds[offset] === kind);
  const decodedOf = (from: number, end: number) => {
    const isIn = ({ offset }: InputRecord) => offset >= from && offset < end;
    return {
      records: records.slice(from, end),
      observations: of('scored').flatMap((record) => (isIn(record) ? [{ record }] : [])),
      refused: of('refused').flatMap((record) => (isIn(record) ? [{ record, cause }] : [])),
      withoutValue: of('without-value').filter(isIn).length,
    };
  };
  const whole = decodedOf(0, records.length) as unknown as DecodedRecords;
  for (let count = 0; count <= records.length; count++) {
    assert.deepEqual(divideDecoded(whole, count), [decodedOf(0, count), decodedOf(count, records.length)]);
  }
});
