import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import avsc from 'avsc';
import { createEventDecoder, createEventEncoder } from '../../../src/codecs/event-codec.ts';
import { WIRE_HEADER_BYTES } from '../../../src/codecs/formats/wire-header.ts';
import { SchemaTable } from '../../fixture/schema-registry/schema-table.ts';
import { avroRecord } from '../../fixture/schema-registry/wire-record.ts';
import { anomalyEvent } from '../../fixture/stream/anomaly-event.ts';

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

const pause = anomalyEvent({ kind: 'silence', series: null, group: null, value: null, seriesCount: 1_500 });

test('an event survives every format, each number to its last digit', async () => {
  for (const format of ['json', 'avro', 'json-schema'] as const) {
    const table = new SchemaTable();
    const encode = await createEventEncoder(format, { topic: 'events', registrar: table });
    const decode = createEventDecoder(format, table);
    for (const event of [anomalyEvent(), ofGroup, pause, anomalyEvent({ kind: 'silence', value: null, labels: {} })]) {
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
  await assert.rejects(decode(json({ ...anomalyEvent(), seriesLabels: { job: 3 } })), /not an event: seriesLabels/);
});

test('fields of a later version are left out', async () => {
  const later = Buffer.from(JSON.stringify({ ...anomalyEvent(), mood: 3 }));
  assert.deepEqual(await createEventDecoder('json')(later), anomalyEvent());
});

const LATER = ['firstAlarmAtMs', 'lastAlarmAtMs', 'seriesCount', 'seriesLabels'];

/** The schema as it was before the span of alarms, the number of series, and their labels. */
async function earlierSchema(): Promise<string> {
  const schema = JSON.parse(await readFile(new URL('../../../schemas/anomaly-event.avsc', import.meta.url), 'utf8'));
  schema.fields = schema.fields.filter(({ name }: { name: string }) => !LATER.includes(name));
  return JSON.stringify(schema);
}

test('consumers with the schema of an earlier version read a pause, and this one reads events of an earlier one', async () => {
  const without = (event: object) =>
    Object.fromEntries(Object.entries(event).filter(([name]) => !LATER.includes(name)));
  const earlier = without(pause);
  const table = new SchemaTable();
  const encode = await createEventEncoder('avro', { topic: 'events', registrar: table });
  const known = avsc.Type.forSchema(JSON.parse(await earlierSchema()), { wrapUnions: 'never' });
  const written = avsc.Type.forSchema(JSON.parse((await table.fetch(1))!.text), { wrapUnions: 'never' });
  const read = known.fromBuffer(encode(pause).subarray(WIRE_HEADER_BYTES), known.createResolver(written));
  assert.deepEqual(JSON.parse(JSON.stringify(read)), JSON.parse(JSON.stringify(earlier)));

  const before = anomalyEvent();
  const fields = without(before);
  assert.deepEqual(await createEventDecoder('json')(Buffer.from(JSON.stringify(fields))), before);
  const ended = await createEventDecoder('json')(Buffer.from(JSON.stringify(without(ofGroup))));
  assert.deepEqual([ended.firstAlarmAtMs, ended.lastAlarmAtMs], [ofGroup.startedAtMs, ofGroup.endedAtMs]);
  const earlierId = table.add('AVRO', await earlierSchema());
  const bytes = avroRecord(earlierId, await earlierSchema(), fields);
  assert.deepEqual(await createEventDecoder('avro', table)(bytes), before);
});
