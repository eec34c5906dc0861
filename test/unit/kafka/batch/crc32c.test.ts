import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32c } from '../../../../src/kafka/batch/crc32c.ts';
import { fc } from '../../../fixture/fast-check.ts';

/** Bit by bit, as it is defined. */
function defined(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}

test('the checksum of the digits 1 to 9 is that of the standard', () => {
  assert.equal(crc32c(Buffer.from('123456789')), 0xe3069283);
});

test('checksums are those of the definition, of any part of any length', () => {
  const part = fc.tuple(
    fc.uint8Array({ maxLength: 200 }),
    fc.nat(200),
    fc.nat(200),
    fc.constantFrom(0, 16_370, 40_000),
  );
  fc.assert(
    fc.property(part, ([drawn, from, to, more]) => {
      const bytes = Buffer.concat([drawn, Buffer.alloc(more, 'kafka'), drawn]);
      const [start, end] = [Math.min(from, bytes.length), Math.max(0, bytes.length - to)];
      assert.equal(crc32c(bytes, start, end), defined(bytes.subarray(start, Math.max(start, end))));
    }),
  );
});
