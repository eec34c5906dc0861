import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRecordDecoder } from '../../../../src/codecs/observations/record-decoder.ts';
import { compileValues } from '../../../../src/codecs/observations/values-mapping.ts';
import { recordedRequests } from '../../../fixture/senders/recorded.ts';
import { CLOCK_MS, recordMapping } from '../../../fixture/stream/record-mapping.ts';

/** -26588.24 and 12.50 in base64, then -26588.24 as a number. The first one is "1234". */
const RECORDS = recordedRequests('connect-json.json', 'decimals');
const PATHS = { series: ['payload.after.id'], time: 'payload.after.at' };

function decoded(record: Buffer, value: string) {
  const found = createRecordDecoder(recordMapping({ ...PATHS, value })).decode({ value: record }, CLOCK_MS);
  return found.kind === 'observation' ? found.value : found;
}

test('decimals of the JSON converter have their values, however they are written', () => {
  const actual = RECORDS.map((record) => decoded(record, 'payload.after.amount'));
  assert.deepEqual(actual, [-26588.24, 12.5, -26588.24]);
  for (const record of RECORDS) {
    assert.equal(decoded(record, 'payload.after.count'), 2 ** 60 + 100);
    assert.equal(decoded(record, 'payload.after.parts[1]'), -2.25);
    assert.equal(decoded(record, 'payload.after.free'), 1.2345);
    assert.equal(decoded(record, 'payload.after.ratio'), 0.5);
  }
});

test('bytes that are no decimal are refused, although they look like a number', () => {
  const found = decoded(RECORDS[0], 'payload.after.raw');
  assert.equal(typeof found === 'object' && found.kind === 'dead-letter' && found.reason, 'value-not-a-number');
});

test('a row of a change capture has the values of its numbers and decimals', () => {
  const read = compileValues(recordMapping({ ...PATHS, values: ['payload.after'] }), {});
  const values = read(JSON.parse(RECORDS[0].toString()), CLOCK_MS).flatMap((one) => {
    return one.kind === 'observation' ? [[one.series, one.value]] : [];
  });
  assert.deepEqual(values, [
    ['a/at', 1_767_225_600_000],
    ['a/amount', -26588.24],
    ['a/count', 2 ** 60],
    ['a/ratio', 0.5],
    ['a/free', 1.2345],
  ]);
});

test('without a schema a text is what it looks like', () => {
  const bare = JSON.parse(RECORDS[0].toString());
  for (const schema of [undefined, null, {}, { type: 'struct', fields: 5 }]) {
    assert.equal(decoded(Buffer.from(JSON.stringify({ ...bare, schema })), 'payload.after.amount'), 1_234);
  }
});

test('Debezium: rows have their decimals, integers and times; a deletion has no row', () => {
  for (const [mode, above] of [
    ['precise', 'payload.'],
    ['double', ''],
  ]) {
    const read = (value: string) => {
      const paths = { series: [`${above}after.id`], time: `${above}after.at`, timeUnit: 'iso', value } as const;
      const decoder = createRecordDecoder(recordMapping(paths));
      return recordedRequests('debezium.json', mode).map((change) => {
        const found = decoder.decode({ value: change }, CLOCK_MS);
        return found.kind === 'observation' ? [found.timestampMs, found.value, found.extras] : found.kind;
      });
    };
    const atMs = Date.UTC(2026, 0, 1) + 123;
    const amounts = [[atMs, -26588.24, undefined], [atMs, 12.5, undefined], 'dead-letter', 'dead-letter'];
    assert.deepEqual(read(`${above}after.amount`), amounts, mode);
    assert.deepEqual(read(`${above}after.free`)[0], [atMs, 1.2345, undefined], mode);
    assert.deepEqual(read(`${above}after.big`)[1], [atMs, 2 ** 60, { low: 100 }], mode);
  }
});
