import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonWriter, TEXT_AT } from '../../../src/codecs/json-numbers.ts';
import { fc } from '../../fixture/fast-check.ts';

const writer = jsonWriter();
const PIECE = writer.keep('"value":')!;

function written(value: number): string {
  const end = writer.number(TEXT_AT, PIECE.from, PIECE.end, value);
  return Buffer.from(writer.bytes.subarray(TEXT_AT, end)).toString();
}

function assertEqual(value: number): void {
  assert.equal(written(value), `"value":${JSON.stringify(value)}`);
}

const BITS = new BigUint64Array(1);
const DOUBLE = new Float64Array(BITS.buffer);

function ofBits(bits: bigint): number {
  BITS[0] = bits;
  return DOUBLE[0];
}

test('any bits of a double, and numbers with few digits, are written as JSON.stringify writes them', () => {
  const few = fc.tuple(fc.integer(), fc.integer({ min: -30, max: 30 }));
  const number = fc.oneof(
    { weight: 4, arbitrary: fc.bigInt(0n, 2n ** 64n - 1n).map(ofBits) },
    few.map(([digits, exponent]) => Number(`${digits}e${exponent}`)),
  );
  fc.assert(fc.property(number, assertEqual), { numRuns: 25_000 });
});

test('powers of two and ten, and their neighbours, are written as JSON.stringify writes them', () => {
  const powers = Array.from({ length: 2_100 }, (_, i) => 2 ** (i - 1_075));
  for (let exponent = -324; exponent <= 308; exponent++) powers.push(Number(`1e${exponent}`));
  for (const power of powers) {
    DOUBLE[0] = power;
    const bits = BITS[0];
    for (const near of [-1n, 0n, 1n]) if (bits + near >= 0n) assertEqual(ofBits(bits + near));
  }
});

test('zeros, the ends of the range, and what is no number are written as JSON.stringify writes them', () => {
  const special = [0, -0, 5e-324, Number.MAX_VALUE, -Number.MAX_VALUE, Number.NaN, Infinity, -Infinity];
  for (const value of [...special, 2 ** 53, 2 ** 53 - 1, 1e21, 999999999999999900000, 1e-6, 1e-7]) assertEqual(value);
});

test('no piece is kept beyond the room for pieces', () => {
  const other = jsonWriter();
  assert.notEqual(other.keep('x'.repeat(180_000)), null);
  assert.equal(other.keep('x'.repeat(7_000)), null);
});
