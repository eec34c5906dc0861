import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEventDecoder, createEventEncoder } from '../../../../src/stream/codec/event-codec.ts';
import { anomalyEvent } from '../../../fixture/stream/anomaly-event.ts';
import { SchemaTable } from '../../../fixture/stream/schema-table.ts';

const ofGroup = anomalyEvent({
  type: 'closed',
  series: null,
  group: 'web',
  lo: null,
  hi: null,
  endedAtMs: Date.UTC(2026, 4, 1, 13),
  closeReason: 'recovered',
  members: [{ series: 'web-1/cpu', share: 0.75 }],
});

test('an event survives every format, each number to its last digit', async () => {
  for (const format of ['json', 'avro', 'json-schema'] as const) {
    const table = new SchemaTable();
    const encode = await createEventEncoder(format, { topic: 'events', registrar: table });
    const decode = createEventDecoder(format, table);
    for (const event of [anomalyEvent(), ofGroup, anomalyEvent({ kind: 'silence', value: null, labels: {} })]) {
      assert.deepEqual(await decode(encode(event)), event, format);
    }
    const none = await decode(encode(anomalyEvent({ expected: Number.NaN, lo: -Infinity })));
    assert.deepEqual([none.expected, none.lo], [null, null], format);
  }
});

test('a record that is not an event is rejected with the name of the wrong field', async () => {
  const decode = createEventDecoder('json');
  const json = (record: unknown) => Buffer.from(JSON.stringify(record));
  await assert.rejects(decode(json(null)), /not an event: eventId/);
  await assert.rejects(decode(json({ ...anomalyEvent(), kind: 'surprise' })), /not an event: kind/);
  await assert.rejects(decode(json({ ...anomalyEvent(), closeReason: 'bored' })), /not an event: closeReason/);
  await assert.rejects(decode(json({ ...anomalyEvent(), members: [{ series: 'a' }] })), /not an event: members: share/);
  await assert.rejects(decode(json({ ...anomalyEvent(), labels: { team: 3 } })), /not an event: labels/);
});

test('fields of a later version are left out', async () => {
  const later = Buffer.from(JSON.stringify({ ...anomalyEvent(), mood: 3 }));
  assert.deepEqual(await createEventDecoder('json')(later), anomalyEvent());
});
