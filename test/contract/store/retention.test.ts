import assert from 'node:assert/strict';
import { createApiKey } from '../../../src/store/keys/api-keys.ts';
import { recordAudit } from '../../../src/store/keys/audit.ts';
import { addUsage, MINUTE_MS, usageOf } from '../../../src/store/ledger/usage.ts';
import { AUDIT_DAYS, condenseUsage, pruneAudit, USAGE_DAYS } from '../../../src/store/retention.ts';
import { newKey } from '../../fixture/store/new-key.ts';
import { readAudit } from '../../fixture/store/read-audit.ts';
import { storeTest } from '../../fixture/store/stores.ts';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 5, 15);

storeTest('audit events are deleted after their retention, in any number, not before', async (store) => {
  const [database, other] = [await store.open(), await store.open()];
  const entry = { actor: 'a', owner: null, action: 'key-created', subject: 's', detail: null } as const;
  const edge = NOW - AUDIT_DAYS * DAY_MS;
  await database.transaction(async (sql) => {
    for (let i = 1; i <= 2_500; i++) await recordAudit(sql, { ...entry, happenedAtMs: edge - i });
    for (const happenedAtMs of [edge, NOW]) await recordAudit(sql, { ...entry, happenedAtMs });
  });
  const forgotten = await Promise.all([pruneAudit(database, NOW), pruneAudit(other, NOW)]);
  assert.equal(forgotten[0] + forgotten[1], 2_500);
  const left = (await readAudit(database)).map(({ happenedAtMs }) => happenedAtMs);
  assert.deepEqual(left, [edge, NOW]);
});

storeTest('old usage is condensed into one row per key without loss', async (store) => {
  const [database, other] = [await store.open(), await store.open()];
  for (const id of ['ann', 'bob']) await createApiKey(database, newKey(id), 'operator');
  const edge = NOW - USAGE_DAYS * DAY_MS;
  const used = { calls: 2, requests: 1, tokens: 30, charged: 20 };
  await database.transaction(async (sql) => {
    for (let i = 1; i <= 1_200; i++)
      await addUsage(sql, { keyId: i % 3 === 0 ? 'bob' : 'ann', nowMs: edge - i * MINUTE_MS }, used);
    for (const atMs of [edge, NOW]) await addUsage(sql, { keyId: 'ann', nowMs: atMs }, used);
  });
  const condensed = await Promise.all([condenseUsage(database, NOW), condenseUsage(other, NOW)]);
  assert.equal(condensed[0] + condensed[1], 1_200);
  assert.equal(await condenseUsage(database, NOW), 0, 'what is condensed stays');
  const rows = await database.query(
    'SELECT key_id, minute_at, calls, requests, tokens, charged FROM usage_minutes ORDER BY minute_at, key_id',
  );
  const times = (n: number) => ({ calls: 2 * n, requests: n, tokens: 30 * n, charged: 20 * n });
  assert.deepEqual(rows, [
    { key_id: 'ann', minute_at: 0, ...times(800) },
    { key_id: 'bob', minute_at: 0, ...times(400) },
    { key_id: 'ann', minute_at: edge, ...times(1) },
    { key_id: 'ann', minute_at: NOW, ...times(1) },
  ]);
  assert.deepEqual((await usageOf(database, 'ann', NOW)).month, { requests: 1, tokens: 30 });
});
