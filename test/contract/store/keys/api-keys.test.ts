import assert from 'node:assert/strict';
import {
  changeRole,
  createApiKey,
  ensureFirstKey,
  findApiKey,
  GENERATED_KEY,
  grantCredits,
  isUsable,
  listApiKeys,
  makeKeySecret,
  matchApiKeys,
  revokeApiKey,
} from '../../../../src/store/keys/api-keys.ts';
import { newKey } from '../../../fixture/store/new-key.ts';
import { readAudit } from '../../../fixture/store/read-audit.ts';
import { openedTest, storeTest } from '../../../fixture/store/stores.ts';

const BY = 'operator';

openedTest('a key is found by its secret, which is not stored', async (database) => {
  const secret = makeKeySecret();
  const limits = { models: ['a', 'b'], callsPerMinute: 60, callsAtOnce: 2, credits: 500, expiresAtMs: 9_000 };
  await createApiKey(database, newKey('k1', { secret, owner: 'ann', ...limits }), BY);
  await createApiKey(database, newKey('k2'), BY);
  const found = await findApiKey(database, secret);
  const { secret: _, ...stored } = newKey('k1', { owner: 'ann', ...limits });
  assert.deepEqual(found, { ...stored, prefix: secret.slice(0, 8), revokedAtMs: null });
  for (const other of ['', secret.slice(0, -1), `${secret}x`, secret.slice(0, 8)]) {
    assert.equal(await findApiKey(database, other), null);
  }
  const everything = [await database.query('SELECT * FROM api_keys'), await database.query('SELECT * FROM audit_log')];
  assert.doesNotMatch(JSON.stringify(everything), new RegExp(secret.slice(8)));
});

openedTest('a key ends by revocation, permanently, or by expiry', async (database) => {
  await createApiKey(database, newKey('k', { expiresAtMs: 5_000 }), BY);
  const find = async () => (await findApiKey(database, newKey('k').secret))!;
  assert.equal(isUsable(await find(), 4_999), true);
  assert.equal(isUsable(await find(), 5_000), false);
  assert.equal(await revokeApiKey(database, 'k', { nowMs: 2_000, actor: BY }), true);
  assert.equal(await revokeApiKey(database, 'k', { nowMs: 3_000, actor: BY }), false);
  assert.equal(await revokeApiKey(database, 'unheard-of', { nowMs: 3_000, actor: BY }), false);
  assert.equal((await find()).revokedAtMs, 2_000);
  assert.equal(isUsable(await find(), 2_000), false);
});

openedTest('an operator names a key by its id or a prefix of id or secret', async (database) => {
  for (const [id, secret] of [
    ['aa1', `tw_first${'x'.repeat(40)}`],
    ['aa2', `tw_other${'x'.repeat(40)}`],
    ['aa', `tw_third${'x'.repeat(40)}`],
  ]) {
    await createApiKey(database, newKey(id, { secret }), BY);
  }
  const named = async (name: string) => (await matchApiKeys(database, name)).map(({ id }) => id);
  assert.deepEqual(await named('aa'), ['aa']);
  assert.deepEqual(await named('a'), ['aa', 'aa1', 'aa2']);
  assert.deepEqual(await named('tw_other'), ['aa2']);
  assert.deepEqual(await named('none'), []);
});

storeTest('replicas that start together create one first key', async (store) => {
  const databases = await Promise.all([store.open(), store.open(), store.open()]);
  const made = await Promise.all(databases.map((database, i) => ensureFirstKey(database, null, newKey(`k${i}`))));
  assert.deepEqual(made.map(({ made }) => made).sort(), [false, false, true]);
  assert.equal((await listApiKeys(databases[0])).length, 1);
});

storeTest('a configured key is created once, and stays revoked', async (store) => {
  const [one, other] = [await store.open(), await store.open()];
  const configured = await Promise.all(
    [one, other].map((database, i) => ensureFirstKey(database, 'configured', newKey(`k${i}`))),
  );
  const [{ id }] = await listApiKeys(one);
  const ids = configured.map(({ configured }) => configured?.id);
  assert.deepEqual(ids, [id, id]);
  await revokeApiKey(one, id, { nowMs: 5_000, actor: BY });
  assert.equal((await ensureFirstKey(other, 'configured', newKey('again'))).configured?.revokedAtMs, 5_000);
  assert.equal((await listApiKeys(one)).length, 1);
});

openedTest('changes of keys are audited: actor, action, time', async (database) => {
  await createApiKey(database, newKey('k', { owner: 'ann', credits: 5 }), 'ann');
  assert.equal(await grantCredits(database, { id: 'k', tokens: 10 }, { nowMs: 2_000, actor: BY }), 15);
  assert.equal(await grantCredits(database, { id: 'unheard-of', tokens: 10 }, { nowMs: 2_000, actor: BY }), null);
  await revokeApiKey(database, 'k', { nowMs: 3_000, actor: BY });
  await revokeApiKey(database, 'k', { nowMs: 4_000, actor: BY });
  const entry = { owner: 'ann', subject: 'k' };
  const limits = { expiresAtMs: null, models: null, callsPerMinute: null, callsAtOnce: null };
  assert.deepEqual(await readAudit(database), [
    {
      ...entry,
      happenedAtMs: 1_000,
      actor: 'ann',
      action: 'key-created',
      detail: { name: 'key k', role: 'operator', ...limits, credits: 5 },
    },
    { ...entry, happenedAtMs: 2_000, actor: BY, action: 'key-credited', detail: { tokens: 10 } },
    { ...entry, happenedAtMs: 3_000, actor: BY, action: 'key-revoked', detail: null },
  ]);
});

openedTest('a configured key replaces the earlier bootstrap key, and keeps its owner', async (database) => {
  await createApiKey(database, newKey('shop'), BY);
  await ensureFirstKey(database, 'first-secret', newKey('first'));
  const act = { createdAtMs: 2_000 };
  const { configured, replaced } = await ensureFirstKey(database, 'next-secret', newKey('next', act));
  assert.deepEqual([configured?.id, configured?.owner, replaced], ['next', 'first', 'first']);
  assert.equal((await findApiKey(database, 'first-secret'))?.revokedAtMs, 2_000);
  const again = await ensureFirstKey(database, 'next-secret', newKey('again', act));
  assert.deepEqual([again.configured?.id, again.replaced], ['next', null]);
  const usable = (await listApiKeys(database)).filter((key) => isUsable(key, 3_000)).map(({ id }) => id);
  assert.deepEqual(usable.sort(), ['next', 'shop']);
});

openedTest('a configured key leaves the generated first key valid', async (database) => {
  await ensureFirstKey(database, null, newKey('generated', { name: GENERATED_KEY }));
  // As releases before marked it.
  await database.query("UPDATE api_keys SET bootstrap = 1 WHERE id = 'generated'");
  const offered = newKey('configured', { createdAtMs: 2_000 });
  const { configured, replaced } = await ensureFirstKey(database, 'configured', offered);
  assert.deepEqual([configured?.owner, replaced], ['generated', null], 'it has the models of the generated key');
  const actual = (await listApiKeys(database)).map(({ id, revokedAtMs }) => [id, revokedAtMs]);
  assert.deepEqual(actual, [
    ['generated', null],
    ['configured', null],
  ]);
  assert.equal((await ensureFirstKey(database, null, newKey('third'))).made, false);
});

openedTest('a key has a role, which can be changed', async (database) => {
  await createApiKey(database, newKey('k', { role: 'viewer' }), BY);
  const find = async () => (await findApiKey(database, newKey('k').secret))!;
  assert.equal((await find()).role, 'viewer');
  assert.equal(await changeRole(database, { id: 'k', role: 'admin' }, { nowMs: 2_000, actor: 'boss' }), true);
  assert.equal(await changeRole(database, { id: 'none', role: 'admin' }, { nowMs: 2_000, actor: 'boss' }), false);
  assert.equal((await find()).role, 'admin');
  const { happenedAtMs, actor, action, detail } = (await readAudit(database)).at(-1)!;
  assert.deepEqual([happenedAtMs, actor, action, detail], [2_000, 'boss', 'key-role-changed', { role: 'admin' }]);
  await assert.rejects(database.query("UPDATE api_keys SET role = 'king' WHERE id = 'k'"));
});
