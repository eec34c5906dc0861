import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createIncidentDecoder, createIncidentEncoder } from '../../../src/codecs/incident-codec.ts';
import { incident } from '../../fixture/incidents/incident.ts';

const decode = createIncidentDecoder('json');

test('an incident is read as it was written, and fields of later versions are left out', async () => {
  const encode = await createIncidentEncoder('json', { topic: 'incidents', registrar: null });
  assert.deepEqual(await decode(encode(incident())), incident());
  assert.deepEqual(await decode(Buffer.from(JSON.stringify({ ...incident(), mood: 1 }))), incident());
});

test('what is no incident is refused by the field', async () => {
  const wrong = [
    [{ type: 'ended' }, /type/],
    [{ kind: 'odd' }, /kind/],
    [{ events: [{}] }, /events/],
    [{ origins: [{ series: 'a', common: null, score: 1, evidence: [1] }] }, /evidence/],
    [{ summary: 3 }, /summary/],
  ] as const;
  for (const [changes, problem] of wrong) {
    const record = Buffer.from(JSON.stringify({ ...incident(), ...changes }));
    await assert.rejects(decode(record), problem);
  }
});
