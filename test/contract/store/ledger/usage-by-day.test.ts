import assert from 'node:assert/strict';
import { createApiKey } from '../../../../src/store/keys/api-keys.ts';
import { pageAudit } from '../../../../src/store/keys/audit.ts';
import { addUsage, usageByDay } from '../../../../src/store/ledger/usage.ts';
import { newKey } from '../../../fixture/store/new-key.ts';
import { openedTest } from '../../../fixture/store/stores.ts';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 9, 31, 12);

openedTest('usage by day adds up minutes, newest first, and leaves out earlier days', async (database) => {
  await createApiKey(database, newKey('k'), 'operator');
  for (const [agoMs, tokens] of [
    [0, 5],
    [60_000, 6],
    [DAY_MS, 7],
    [3 * DAY_MS, 8],
  ]) {
    await addUsage(database, { keyId: 'k', nowMs: NOW - agoMs }, { calls: 2, requests: 1, tokens, charged: 1 });
  }
  assert.deepEqual(await usageByDay(database, 'k', { nowMs: NOW, days: 3 }), [
    { day: '2026-10-31', calls: 4, requests: 2, tokens: 11, charged: 2 },
    { day: '2026-10-30', calls: 2, requests: 1, tokens: 7, charged: 1 },
  ]);
});

openedTest('audit events are selected by subject and actor', async (database) => {
  for (const [id, actor] of [
    ['k1', 'ann'],
    ['k2', 'bob'],
    ['k3', 'bob'],
  ]) {
    await createApiKey(database, newKey(id), actor);
  }
  const all = { before: Number.MAX_SAFE_INTEGER, size: 10 };
  const subjects = async (subject: string | null, actor: string | null) =>
    (await pageAudit(database, { ...all, subject, actor })).entries.map((entry) => entry.subject);
  assert.deepEqual(await subjects(null, null), ['k3', 'k2', 'k1']);
  assert.deepEqual(await subjects(null, 'bob'), ['k3', 'k2']);
  assert.deepEqual(await subjects('k1', 'ann'), ['k1']);
  assert.deepEqual(await subjects('k1', 'bob'), []);
});
