import assert from 'node:assert/strict';
import type { Database } from '../../../../src/store/database/database.ts';
import {
  createApiKey,
  findApiKey,
  grantCredits,
  type NewApiKey,
  revokeApiKey,
} from '../../../../src/store/keys/api-keys.ts';
import {
  beginCall,
  type CallRequest,
  releaseCall,
  releaseExpiredHolds,
  renewHolds,
  settleCall,
} from '../../../../src/store/ledger/credits.ts';
import { usageOf } from '../../../../src/store/ledger/usage.ts';
import { newKey } from '../../../fixture/store/new-key.ts';
import { storeTest, type TestStore } from '../../../fixture/store/stores.ts';

const KEY = 'k';
const NOW = Date.UTC(2026, 9, 31, 23, 58, 30);
const LEASE_MS = 30_000;

async function openWith(store: TestStore, limits: Partial<NewApiKey>): Promise<Database> {
  const database = await store.open();
  await createApiKey(database, newKey(KEY, limits), 'operator');
  return database;
}

const creditsOf = async (database: Database) => (await findApiKey(database, newKey(KEY).secret))!.credits;

function begin(database: Database, holdId: string, changes: Partial<CallRequest> = {}) {
  const nowMs = changes.nowMs ?? NOW;
  const call = { holdId, keyId: KEY, tokens: 10, nowMs, holder: 'one', leaseUntilMs: nowMs + LEASE_MS, ...changes };
  return database.transaction((sql) => beginCall(sql, call));
}

const settle = (database: Database, holdId: string, tokens = 10, nowMs = NOW) =>
  database.transaction((sql) => settleCall(sql, { holdId, keyId: KEY }, { tokens, nowMs }));

const release = (database: Database, holdId: string) =>
  database.transaction((sql) => releaseCall(sql, { holdId, keyId: KEY }));

storeTest('credits are held before the work, settled after it, released without it', async (store) => {
  const database = await openWith(store, { credits: 25 });
  assert.equal((await begin(database, 'a')).kind, 'begun');
  assert.equal((await begin(database, 'b')).kind, 'begun');
  assert.equal(await creditsOf(database), 5);
  assert.deepEqual(await begin(database, 'c'), { kind: 'exhausted' });
  assert.equal(await settle(database, 'a'), 'settled');
  assert.equal(await creditsOf(database), 5);
  for (let i = 0; i < 2; i++) await release(database, 'b');
  assert.equal(await creditsOf(database), 15);
  assert.deepEqual((await usageOf(database, KEY, NOW)).minute, { requests: 1, tokens: 10 });
  await grantCredits(database, { id: KEY, tokens: 5 }, { nowMs: NOW, actor: 'operator' });
  assert.equal(await creditsOf(database), 20);
});

storeTest('an unlimited key is counted', async (store) => {
  const database = await openWith(store, {});
  assert.equal((await begin(database, 'a', { tokens: 1_000_000 })).kind, 'begun');
  await settle(database, 'a', 1_000_000);
  assert.equal(await creditsOf(database), null);
  assert.deepEqual((await usageOf(database, KEY, NOW)).month, { requests: 1, tokens: 1_000_000 });
});

storeTest('expired holds are released, renewed ones are not', async (store) => {
  const database = await openWith(store, { credits: 30 });
  await begin(database, 'silent');
  await begin(database, 'there', { holder: 'two' });
  await renewHolds(database, 'two', NOW + 2 * LEASE_MS);
  await releaseExpiredHolds(database, NOW + LEASE_MS - 1);
  assert.equal(await creditsOf(database), 10);
  await releaseExpiredHolds(database, NOW + LEASE_MS);
  assert.equal(await creditsOf(database), 20);
  await releaseExpiredHolds(database, NOW + 2 * LEASE_MS);
  assert.equal(await creditsOf(database), 30);
});

storeTest('a call whose hold expired pays when it is answered, or is not answered', async (store) => {
  const database = await openWith(store, { credits: 15 });
  const late = NOW + LEASE_MS;
  await begin(database, 'slow');
  assert.equal((await begin(database, 'next', { nowMs: late })).kind, 'begun');
  assert.equal(await settle(database, 'slow', 10, late), 'exhausted');
  await release(database, 'next');
  assert.equal(await settle(database, 'slow', 10, late), 'settled');
  assert.equal(await creditsOf(database), 5);
});

storeTest('concurrent calls and calls per minute are limited', async (store) => {
  const database = await openWith(store, { callsAtOnce: 2, callsPerMinute: 3 });
  await begin(database, 'a');
  await begin(database, 'b');
  assert.deepEqual(await begin(database, 'c'), { kind: 'too-many-at-once', callsMax: 2 });
  await settle(database, 'a');
  assert.equal((await begin(database, 'c')).kind, 'begun');
  await settle(database, 'b');
  const refused = { kind: 'too-many-a-minute', callsMax: 3, retryAfterMs: 30_000 };
  assert.deepEqual(await begin(database, 'd'), refused);
  assert.equal((await begin(database, 'd', { nowMs: NOW + 30_000 })).kind, 'begun');
});

storeTest('a call of a revoked or expired key is not admitted', async (store) => {
  const database = await openWith(store, { expiresAtMs: NOW + 1 });
  assert.equal((await begin(database, 'a')).kind, 'begun');
  assert.deepEqual(await begin(database, 'b', { nowMs: NOW + 1 }), { kind: 'unusable' });
  await revokeApiKey(database, KEY, { nowMs: NOW, actor: 'operator' });
  assert.deepEqual(await begin(database, 'c'), { kind: 'unusable' });
});

storeTest('usage covers the current minute and calendar month', async (store) => {
  const database = await openWith(store, {});
  const spend = async (nowMs: number, tokens: number) => {
    await begin(database, String(nowMs), { nowMs });
    await settle(database, String(nowMs), tokens, nowMs);
  };
  await spend(Date.UTC(2026, 8, 30, 23, 59), 1);
  await spend(Date.UTC(2026, 9, 1), 2);
  await spend(NOW, 4);
  await spend(NOW + 1, 8);
  const usage = await usageOf(database, KEY, NOW + 1_000);
  assert.deepEqual(usage, { minute: { requests: 2, tokens: 12 }, month: { requests: 3, tokens: 14 } });
  const nothing = { requests: 0, tokens: 0 };
  assert.deepEqual(await usageOf(database, KEY, Date.UTC(2026, 10, 1)), { minute: nothing, month: nothing });
  assert.deepEqual(await usageOf(database, 'another', NOW), { minute: nothing, month: nothing });
});
