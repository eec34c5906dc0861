import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { wireHeader } from '../../../src/codecs/formats/wire-header.ts';
import { flatJson } from '../../../src/codecs/observations/flat-json.ts';
import { createRecordDecoder } from '../../../src/codecs/observations/record-decoder.ts';
import { compileRecordPath, parseRecordPath } from '../../../src/codecs/observations/record-path.ts';
import { createScoreDecoder } from '../../../src/codecs/score-decoder.ts';
import { createScoreEncoder } from '../../../src/codecs/score-encoder.ts';
import type { RecordFormat, RecordMapping } from '../../../src/config/config.ts';
import { recordPath } from '../../../src/config/schema/kinds.ts';
import { VALUE_MAGNITUDE_MAX } from '../../../src/detection/calibration/precision.ts';
import { DEAD_LETTER_REASONS } from '../../../src/records/dead-letter.ts';
import { SCORE_STATES, type ScoreRecord } from '../../../src/records/score-record.ts';
import { fc } from '../../fixture/fast-check.ts';
import { SchemaTable } from '../../fixture/schema-registry/schema-table.ts';
import { avroRecord, protobufRecord } from '../../fixture/schema-registry/wire-record.ts';
import { CLOCK_MS, recordMapping } from '../../fixture/stream/record-mapping.ts';

const read = (name: string) => readFileSync(new URL(`../../../schemas/${name}`, import.meta.url), 'utf8');
const AVRO = read('observation.avsc');
const PROTO = read('observation.proto');

/** Everything that can nest or count: what a hostile record would use. */
const WIDE_AVRO = JSON.stringify({
  type: 'record',
  name: 'Node',
  fields: [
    { name: 'series', type: 'string' },
    { name: 'timestamp', type: { type: 'long', logicalType: 'timestamp-millis' } },
    {
      name: 'value',
      type: ['null', 'int', 'double', { type: 'bytes', logicalType: 'decimal', precision: 9, scale: 2 }],
    },
    { name: 'tags', type: { type: 'map', values: 'string' } },
    { name: 'children', type: { type: 'array', items: 'Node' } },
  ],
});

const table = new SchemaTable();
const AVRO_ID = table.add('AVRO', AVRO);
const PROTO_ID = table.add('PROTOBUF', PROTO);
const WIDE_ID = table.add('AVRO', WIDE_AVRO);

async function decoderOf(format: RecordFormat, schemaId: number | null) {
  const decoder = createRecordDecoder(recordMapping({ format }), { schemas: table });
  if (schemaId !== null) await decoder.loadSchemas([schemaId], CLOCK_MS);
  return decoder;
}

const isClosed = (reason: string) => DEAD_LETTER_REASONS.some((known) => known === reason);

test('arbitrary bytes never make a decoder throw, only refuse for a reason of the list', async () => {
  const cases: [RecordFormat, number | null][] = [
    ['json', null],
    ['json-schema', 9],
    ['avro', AVRO_ID],
    ['avro', WIDE_ID],
    ['protobuf', PROTO_ID],
  ];
  for (const [format, schemaId] of cases) {
    const decoder = await decoderOf(format, schemaId);
    const header = schemaId === null ? Buffer.alloc(0) : wireHeader(schemaId);
    const bytes = fc.uint8Array({ maxLength: 200 }).map((tail) => Buffer.concat([header, tail]));
    const json = fc.json().map((text) => Buffer.concat([header, Buffer.from(text)]));
    fc.assert(
      fc.property(fc.oneof(bytes, json), (value) => {
        const decoded = decoder.decode({ value }, CLOCK_MS);
        if (decoded.kind === 'dead-letter') assert.ok(isClosed(decoded.reason) && decoded.detail !== '');
        else assert.ok(Number.isSafeInteger(decoded.timestampMs));
        if (decoded.kind === 'observation') assert.ok(Number.isFinite(decoded.value));
      }),
      { numRuns: 1_000 },
    );
  }
});

const FINITE = fc.double({ noNaN: true, noDefaultInfinity: true });
const SERIES = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((text) => !/[\0\ufffd]/.test(text));

test('an observation is the same in every format', async () => {
  const decoders = {
    json: await decoderOf('json', null),
    avro: await decoderOf('avro', AVRO_ID),
    protobuf: await decoderOf('protobuf', PROTO_ID),
  };
  const value = fc.double({ noNaN: true, min: -VALUE_MAGNITUDE_MAX, max: VALUE_MAGNITUDE_MAX });
  const timestamp = fc.integer({ min: Date.UTC(1980), max: CLOCK_MS });
  fc.assert(
    fc.property(fc.record({ series: SERIES, timestamp, value }), (record) => {
      const { series } = record;
      const wanted = {
        kind: 'observation',
        series,
        group: null,
        timestampMs: record.timestamp,
        value: record.value + 0,
      };
      const json = Buffer.from(JSON.stringify(record));
      // JSON writes a double beyond 2^53 as an integer of other digits, which counters keep.
      const { extras: _, ...decoded } = { extras: undefined, ...decoders.json.decode({ value: json }, CLOCK_MS) };
      assert.deepEqual(decoded, wanted);
      const avro = avroRecord(AVRO_ID, AVRO, { ...record, group: null });
      assert.deepEqual(decoders.avro.decode({ value: avro }, CLOCK_MS), { ...wanted, value: record.value });
      const proto = protobufRecord(PROTO_ID, PROTO, 'tidewatch.Observation', record);
      assert.deepEqual(decoders.protobuf.decode({ value: proto }, CLOCK_MS), { ...wanted, value: record.value });
    }),
    { numRuns: 500 },
  );
});

/** What the Avro library writes at most as a long. */
const OFFSET_MAX = Number.MAX_SAFE_INTEGER - 1;

const NUMBER_OR_NULL = fc.option(FINITE);
const COUNT = fc.nat();
const SCORE: fc.Arbitrary<ScoreRecord> = fc.record(
  {
    series: SERIES,
    detector: fc.string(),
    model: fc.string(),
    modelDigest: fc.string(),
    group: fc.option(fc.string({ unit: 'grapheme' })),
    timestampMs: fc.integer({ min: 0, max: Date.UTC(2199) }),
    value: FINITE,
    forecast: NUMBER_OR_NULL,
    lo: NUMBER_OR_NULL,
    hi: NUMBER_OR_NULL,
    level: fc.double({ min: 0, max: 99.999, noNaN: true }),
    anomalyScore: NUMBER_OR_NULL,
    accumulatedAnomalyScore: NUMBER_OR_NULL,
    anomaly: fc.boolean(),
    grade: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    severity: fc.option(fc.double({ min: 0, noNaN: true, noDefaultInfinity: true })),
    alarm: fc.boolean(),
    state: fc.constantFrom(...SCORE_STATES),
    cause: fc.constantFrom(null, 'event-time', 'clock'),
    position: COUNT,
    window: fc.record({ start: COUNT, end: COUNT }, { noNullPrototype: true }),
    restarted: fc.boolean(),
    input: fc.record(
      { topic: fc.string(), partition: COUNT, offset: fc.maxSafeNat().filter((offset) => offset <= OFFSET_MAX) },
      { noNullPrototype: true },
    ),
  },
  { noNullPrototype: true },
);

/** JSON knows no negative zero. */
const throughJson = (score: ScoreRecord) => JSON.parse(JSON.stringify(score));

test('every score survives every format', async () => {
  for (const format of ['json', 'avro', 'json-schema'] as const) {
    const encode = await createScoreEncoder(format, { topic: 'scores', registrar: table });
    const decode = createScoreDecoder(format, table);
    const property = fc.asyncProperty(SCORE, async (score) => {
      assert.deepEqual(throughJson(await decode(encode(score))), throughJson(score));
    });
    await fc.assert(property, { numRuns: 300 });
  }
});

test('a path of quoted keys finds its value, whatever the keys', () => {
  const key = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => text !== '__proto__');
  fc.assert(
    fc.property(fc.array(key, { minLength: 1, maxLength: 4 }), (keys) => {
      const path = keys.map((name) => `["${name.replace(/["\\]/g, '\\$&')}"]`).join('');
      assert.deepEqual(parseRecordPath(path), keys);
      const record = keys.reduceRight<unknown>((place, name) => ({ [name]: place }), 42);
      assert.equal(compileRecordPath(path)(record), 42);
    }),
  );
});

test('the configuration accepts exactly the paths that the decoder can read', () => {
  const piece = fc.constantFrom(
    'a',
    'b1',
    '.',
    '$',
    '[0]',
    '[',
    ']',
    '"x.y"',
    "['z']",
    '["q\\""]',
    ' ',
    '_',
    '..',
    '"',
    "'",
    '[12345678]',
    '\\',
    'é',
  );
  const path = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(fc.oneof(path, fc.string()), (text) => {
      assert.equal(recordPath.parse(text) === text, parseRecordPath(text) !== null, JSON.stringify(text));
    }),
    { numRuns: 2_000 },
  );
});

const MAPPING: RecordMapping = {
  format: 'json',
  series: ['host', 'metric'],
  time: 'time',
  timeUnit: 'ms',
  value: 'value',
  futureMsMax: 86_400_000,
};
const NOW_MS = Date.UTC(2026, 4, 1);

const TOKENS = [
  ...['"cpu"', '"web 1"', '""', '"Größe"', '"\\u0061"', '"a\\"b"', '"a\tb"', '"NaN"', '"12.5"', '"open'],
  ...'0 -0 7 01 - 1. .5 1.50 -3.25 1e3 1E-2 +1 12345678901234567890 123456789012345'.split(' '),
  ...['0.1', '0.12345678901234567', '-0.000001', '9007199254740993', '1777593600000', '1777593600000.4'],
  ...['true', 'false', 'null', 'nul', 'NaN', '-Infinity', '{}', '{"value":1}', '[]', '[1]', ''],
];
const field = fc.tuple(
  fc.constantFrom('host', 'metric', 'time', 'value', 'unit', 'va\\u006cue', 'größe'),
  fc.constantFrom(':', ':', ': ', ' :', ':\n', ''),
  fc.oneof(fc.constantFrom(...TOKENS), fc.double().map(String), fc.json()),
  fc.constantFrom(',', ',', ', ', ' ,', ';'),
);
const usual = fc
  .tuple(fc.constantFrom('"web-1"', '7'), fc.constantFrom(...TOKENS), fc.constantFrom(':', ': '))
  .map(
    ([host, value, colon]) =>
      `"host"${colon}${host},"metric"${colon}"cpu","time"${colon}1777593600000,"value"${colon}${value}`,
  );
const body = fc.oneof(
  usual,
  fc
    .array(field, { maxLength: 6 })
    .map((fields) =>
      fields
        .map(([name, colon, token, comma], i) => `"${name}"${colon}${token}${i === fields.length - 1 ? '' : comma}`)
        .join(''),
    ),
);
const record = fc
  .tuple(fc.constantFrom('{', '{', ' {', '', '\uFEFF{'), body, fc.constantFrom('}', '}', '} ', '', '}}', ',}'))
  .map((parts) => parts.join(''));

test('a JSON record means the same whether its fields are read one by one or parsed as a whole', () => {
  const byField = createRecordDecoder(MAPPING);
  // With groups any field may be needed, so records are parsed.
  const asWhole = createRecordDecoder(MAPPING, { groupSourceOf: () => null });
  fc.assert(
    fc.property(record, (text) => {
      const bytes = Buffer.from(text);
      assert.deepEqual(byField.decode({ value: bytes }, NOW_MS), asWhole.decode({ value: bytes }, NOW_MS));
    }),
    { numRuns: 20_000 },
  );
});

test('of records that are read one by one the fields are those of JSON.parse', () => {
  const fieldsOf = flatJson(['host', 'value']);
  let read = 0;
  fc.assert(
    fc.property(record, (text) => {
      const fields = fieldsOf(Buffer.from(text));
      if (fields === null) return;
      const { host, value } = JSON.parse(text);
      assert.deepEqual([...fields], [host, value]);
      read++;
    }),
    { numRuns: 20_000 },
  );
  assert.notEqual(read, 0);
});

test('a record of plain fields is read one by one', () => {
  const fieldsOf = flatJson(['host', 'value']);
  const text = '{"host":"web-1", "time": 1, "ok":true,"unit":"°"}';
  assert.equal(fieldsOf(Buffer.from(text)), null);
  const plain = Buffer.from('{"host":"web-1", "time": 1, "ok":true,"value":-12.5,"none":null}');
  assert.deepEqual(fieldsOf(plain), ['web-1', -12.5]);
});
