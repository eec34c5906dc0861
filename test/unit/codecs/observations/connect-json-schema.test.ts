import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectDecimals } from '../../../../src/codecs/observations/connect-json-schema.ts';

const amount = {
  type: 'number',
  title: 'org.apache.kafka.connect.data.Decimal',
  'connect.type': 'bytes',
  'connect.parameters': { scale: '2' },
};
const decoded = (properties: object, record: object, references: { name: string; text: string }[] = []) => {
  const text = JSON.stringify({ type: 'object', properties, definitions: { amount } });
  return connectDecimals({ type: 'JSON', text, references })?.(record) ?? null;
};

test('base64 of a decimal is never the number that it looks like, wherever its schema is', () => {
  const optional = { oneOf: [{ type: 'null' }, amount] };
  const properties = {
    plain: amount,
    optional,
    many: { type: 'array', items: optional },
    byName: { type: 'object', additionalProperties: { $ref: '#/definitions/amount' } },
    other: { $ref: 'other.json#/definitions/amount' },
    text: { type: 'string' },
  };
  const record = {
    plain: '1234',
    optional: '1234',
    many: ['1234', null],
    byName: { a: '1234' },
    other: '1234',
    text: '1234',
  };
  const one = '-2658824e-2';
  const other = { name: 'other.json', text: JSON.stringify({ definitions: { amount } }) };
  const expected = { plain: one, optional: one, many: [one, null], byName: { a: one }, other: one, text: '1234' };
  assert.deepEqual(decoded(properties, record, [other]), expected);
  assert.deepEqual(decoded({ plain: amount }, { plain: 12.5 }), { plain: 12.5 });
});

test('bytes that are no decimal are no number, and a decimal of any scale is one', () => {
  const raw = { type: 'string', 'connect.type': 'bytes' };
  assert.deepEqual(decoded({ raw }, { raw: '1234' }), { raw: 'bytes 1234' });
  const free = {
    type: 'object',
    title: 'io.debezium.data.VariableScaleDecimal',
    properties: { scale: {}, value: raw },
  };
  assert.deepEqual(decoded({ free }, { free: { scale: 4, value: 'MDk=' } }), { free: '12345e-4' });
});

test('a schema without decimals, or that refers to itself for ever, changes nothing', () => {
  assert.equal(connectDecimals({ type: 'JSON', text: '{"type":"object"}', references: [] }), null);
  assert.deepEqual(decoded({ amount, a: { $ref: '#/properties/a' } }, { a: '1' }), { a: '1' });
});
