import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeEnvelope, encodeEnvelope } from '../../../../src/api/jobs/envelope.ts';

test('an envelope decodes to what was encoded, at any offset of its buffer', () => {
  for (const bytes of [Buffer.alloc(0), Buffer.from([0, 255, 123])]) {
    const envelope = encodeEnvelope({ header: { task: 'forecast', text: 'ä' }, bytes });
    const within = Buffer.concat([Buffer.from('before'), envelope, Buffer.from('after')]);
    const found = decodeEnvelope<object>(within.subarray(6, 6 + envelope.length));
    assert.deepEqual(found.header, { task: 'forecast', text: 'ä' });
    assert.deepEqual(Buffer.from(found.bytes), bytes);
  }
});
