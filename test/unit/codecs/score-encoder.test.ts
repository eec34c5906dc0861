import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFrame } from '../../../src/codecs/formats/wire-header.ts';
import type { OutputFormat } from '../../../src/codecs/record-writer.ts';
import { createScoreDecoder } from '../../../src/codecs/score-decoder.ts';
import { createScoreEncoder } from '../../../src/codecs/score-encoder.ts';
import { SchemaTable } from '../../fixture/schema-registry/schema-table.ts';
import { scoreRecord } from '../../fixture/stream/score-record.ts';

const FORMATS: readonly OutputFormat[] = ['json', 'avro', 'json-schema'];

async function codecOf(format: OutputFormat) {
  const table = new SchemaTable();
  const encode = await createScoreEncoder(format, { topic: 'scores', registrar: table });
  return { table, encode, decode: createScoreDecoder(format, table) };
}

test('a number that does not exist is written as null', async () => {
  for (const format of FORMATS) {
    const { encode, decode } = await codecOf(format);
    const none = { forecast: Number.NaN, lo: -Infinity, hi: Infinity, anomalyScore: Number.NaN };
    const score = await decode(encode(scoreRecord({ ...none, accumulatedAnomalyScore: Number.NaN })));
    const { forecast, lo, hi, anomalyScore, accumulatedAnomalyScore } = score;
    assert.deepEqual([forecast, lo, hi, anomalyScore, accumulatedAnomalyScore], [null, null, null, null, null], format);
  }
});

test('the schema is registered once, as that of the values of the topic', async () => {
  for (const [format, type] of [
    ['avro', 'AVRO'],
    ['json-schema', 'JSON'],
  ] as const) {
    const { table, encode } = await codecOf(format);
    assert.match(JSON.stringify(readFrame(encode(scoreRecord()))), /"schema":1,/);
    encode(scoreRecord());
    assert.deepEqual(table.subjects, ['scores-value']);
    assert.equal(table.schemas[0].type, type);
  }
});

test('plain JSON needs no registry; the other formats are refused without one', async () => {
  const options = { topic: 'scores', registrar: null };
  await createScoreEncoder('json', options);
  await assert.rejects(createScoreEncoder('avro', options), TypeError);
  await assert.rejects(createScoreEncoder('json-schema', options), TypeError);
  assert.throws(() => createScoreDecoder('avro'), TypeError);
});

test('a record that is not a score is rejected with the name of the wrong field', async () => {
  const decode = createScoreDecoder('json');
  const json = (record: unknown) => Buffer.from(JSON.stringify(record));
  await assert.rejects(decode(json(null)), /not a score record: series/);
  await assert.rejects(decode(json({ ...scoreRecord(), lo: '1' })), /not a score record: lo/);
  await assert.rejects(decode(json({ ...scoreRecord(), state: 'fine' })), /not a score record: state/);
  await assert.rejects(decode(json({ ...scoreRecord(), window: { start: 0 } })), /not a score record: window: end/);
  await assert.rejects(createScoreDecoder('json-schema')(json(scoreRecord())), /no schema id/);
});

test('a record of an earlier version has no grade, no severity and no alarm', async () => {
  const { grade: _, severity: __, alarm: ___, ...earlier } = scoreRecord();
  const expected = { ...scoreRecord(), grade: null, severity: null, alarm: false };
  assert.deepEqual(await createScoreDecoder('json')(Buffer.from(JSON.stringify(earlier))), expected);
});

test('fields of a later version are left out', async () => {
  const later = Buffer.from(JSON.stringify({ ...scoreRecord(), mood: 3 }));
  assert.deepEqual(await createScoreDecoder('json')(later), scoreRecord());
});
