import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRecordDecoder } from '../../../../src/codecs/observations/record-decoder.ts';
import type { RecordMapping } from '../../../../src/config/config.ts';
import { CLOCK_MS, recordMapping } from '../../../fixture/stream/record-mapping.ts';

function extrasOf(text: string, changes: Partial<RecordMapping> = {}) {
  const bytes = Buffer.from(text);
  const [byField, asWhole] = [undefined, () => null].map((groupSourceOf) =>
    createRecordDecoder(recordMapping(changes), { groupSourceOf }).decode({ value: bytes }, CLOCK_MS),
  );
  assert.deepEqual(byField, asWhole);
  return byField.kind === 'observation' ? byField.extras : byField.kind;
}

const record = (more: string) => `{"series":"a","timestamp":${CLOCK_MS},${more}}`;

test('start and temporality are read where a record has them, by their paths', () => {
  assert.equal(extrasOf(record('"value":1')), undefined);
  assert.deepEqual(extrasOf(record(`"value":1,"start":${CLOCK_MS - 5},"temporality":"delta"`)), {
    startMs: CLOCK_MS - 5,
    isDelta: true,
  });
  assert.deepEqual(extrasOf(record(`"value":1,"since":${CLOCK_MS - 5}`), { start: 'since' }), {
    startMs: CLOCK_MS - 5,
  });
  assert.equal(extrasOf(record('"value":1,"start":null,"temporality":"cumulative"')), undefined);
});

test('a start of 0, or at the time of its point, is ignored', () => {
  for (const start of [0, CLOCK_MS, CLOCK_MS + 1])
    assert.equal(extrasOf(record(`"value":1,"start":${start}`)), undefined);
});

test('what is no start, and no temporality, has a problem that names it', () => {
  for (const more of ['"start":"soon"', '"start":1767225600', '"temporality":"gauge"', '"temporality":2']) {
    const extras = extrasOf(record(`"value":1,${more}`));
    assert.match(typeof extras === 'object' ? (extras.problem ?? '') : '', /^the (start|temporality) is .+, (no|not) /);
  }
});

test('the digits of an integer beyond 2^53 are kept, as a number and as a text', () => {
  for (const written of ['1152921504606847076', '"1152921504606847076"', '-9007199254740993']) {
    const low = written.startsWith('-') ? -1 : 100;
    assert.deepEqual(extrasOf(record(`"value":${written}`)), { low });
  }
  assert.equal(extrasOf(record('"value":9007199254740992')), undefined);
  assert.equal(extrasOf(record('"value":1152921504606847076.5')), undefined);
});
