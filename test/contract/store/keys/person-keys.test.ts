import assert from 'node:assert/strict';
import { findKeyById, isUsable, listApiKeys, revokeApiKey } from '../../../../src/store/keys/api-keys.ts';
import { pageAudit } from '../../../../src/store/keys/audit.ts';
import { keyOfPerson } from '../../../../src/store/keys/person-keys.ts';
import { openedTest } from '../../../fixture/store/stores.ts';

const ADA = { id: 'ada', name: 'ada@example.com', role: 'operator', expiresAtMs: 1_000 } as const;
const at = (nowMs: number) => ({ nowMs, actor: 'provider' });

openedTest('a person has one key, with the name, role and end of the newest sign-in', async (database) => {
  const both = await Promise.all([1, 2].map((nowMs) => keyOfPerson(database, ADA, at(nowMs))));
  const actual = both.map((key) => [key?.id, key?.role, key?.owner]);
  assert.deepEqual(actual, [
    ['ada', 'operator', 'ada'],
    ['ada', 'operator', 'ada'],
  ]);
  assert.equal((await listApiKeys(database)).length, 1);
  assert.deepEqual(
    [999, 1_000].map((nowMs) => both.map((key) => key !== null && isUsable(key, nowMs))),
    [
      [true, true],
      [false, false],
    ],
  );
  const later = await keyOfPerson(database, { ...ADA, role: 'viewer', expiresAtMs: 2_000 }, at(1_500));
  assert.deepEqual([later?.role, later?.expiresAtMs], ['viewer', 2_000]);
  const { entries } = await pageAudit(database, { before: 1_000, size: 10, subject: 'ada', actor: 'provider' });
  const actions = entries.map(({ action }) => action);
  assert.deepEqual(actions, ['signed-in', 'signed-in', 'signed-in', 'key-created']);
});

openedTest('a person whose key was revoked has none any more', async (database) => {
  await keyOfPerson(database, ADA, at(1));
  await revokeApiKey(database, 'ada', at(2));
  assert.equal(await keyOfPerson(database, ADA, at(3)), null);
  assert.equal((await findKeyById(database, 'ada'))?.revokedAtMs, 2);
});
