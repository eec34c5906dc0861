import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memberOf } from '../../../src/incidents/incident-member.ts';
import { anomalyEvent } from '../../fixture/stream/anomaly-event.ts';

test('the description of a member has the numbers of the sentence of its event', () => {
  const seen = (changes: Parameters<typeof anomalyEvent>[0]) => memberOf(anomalyEvent(changes), 60_000).seen;
  assert.equal(seen({}), '99 where 42 was expected');
  const counter = { value: 1_408_612_377_120, expected: 1_408_612_000_000, lo: null, hi: null };
  assert.equal(seen(counter), '1408612377120 where 1408612000000 was expected');
  assert.equal(seen({ ...counter, unit: 'bytes' }), '1.2811255 TiB where 1.2811252 TiB was expected');
  assert.equal(seen({ expected: null }), null);
});
