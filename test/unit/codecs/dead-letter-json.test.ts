import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEAD_LETTER_BYTES_MAX, deadLetterHeaders, encodeDeadLetter } from '../../../src/codecs/dead-letter-json.ts';
import { deadLetter } from '../../fixture/stream/dead-letter.ts';

/** What a broker takes by default. */
const RECORD_BYTES_MAX = 1_048_588;

const encoded = (letter: Parameters<typeof encodeDeadLetter>[0]) => JSON.parse(encodeDeadLetter(letter).toString());

test('a dead letter contains key and value byte for byte, in base64', () => {
  const key = Buffer.from([0, 0, 0, 0]);
  const value = Buffer.from([0xff, 0x00, 0x7b]);
  const record = encoded(deadLetter({ key, value }));
  assert.deepEqual(Buffer.from(record.key, 'base64'), key);
  assert.deepEqual(Buffer.from(record.value, 'base64'), value);
  assert.equal(record.truncated, false);
});

test('an absent key or value is null, an empty one is empty', () => {
  const absent = encoded(deadLetter({ key: null, value: null }));
  assert.deepEqual([absent.key, absent.value, absent.truncated], [null, null, false]);
  const empty = encoded(deadLetter({ key: Buffer.alloc(0), value: Buffer.alloc(0) }));
  assert.deepEqual([empty.key, empty.value, empty.truncated], ['', '', false]);
});

test('a large record is cut, so that its dead letter is never too large', () => {
  const large = Buffer.alloc(2 * DEAD_LETTER_BYTES_MAX);
  const small = Buffer.alloc(10);
  for (const [key, value] of [
    [null, large],
    [small, large],
    [large, small],
    [large, large],
  ]) {
    const bytes = encodeDeadLetter(deadLetter({ key, value }));
    assert.ok(bytes.length < RECORD_BYTES_MAX);
    assert.equal(JSON.parse(bytes.toString()).truncated, true);
  }
  const fits = encoded(deadLetter({ key: small, value: Buffer.alloc(DEAD_LETTER_BYTES_MAX - small.length) }));
  assert.equal(fits.truncated, false);
});

test('the reason is also a header', () => {
  assert.deepEqual(deadLetterHeaders(deadLetter({ reason: 'late' })), [['reason', Buffer.from('late')]]);
});
