import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flatJson } from '../../../src/codecs/observations/flat-json.ts';
import { createRecordDecoder } from '../../../src/codecs/observations/record-decoder.ts';
import type { RecordMapping } from '../../../src/config/config.ts';
import { fc } from '../../fixture/fast-check.ts';

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
