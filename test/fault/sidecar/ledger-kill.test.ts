import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Database } from '../../../src/store/database/database.ts';
import { createApiKey } from '../../../src/store/keys/api-keys.ts';
import { releaseExpiredHolds } from '../../../src/store/ledger/credits.ts';
import { imbalances } from '../../fixture/store/ledger.ts';
import { newKey } from '../../fixture/store/new-key.ts';
import type { SpenderOptions } from '../../fixture/store/spender.ts';
import { storeTest } from '../../fixture/store/stores.ts';

const SPENDER = fileURLToPath(new URL('../../fixture/store/spender.ts', import.meta.url));
const KEY = 'k';
const CREDITS = 1_000_000;
const LEASE_MS = 60_000;
const PROCESSES = 3;
/** Each process is killed once it has reported so many calls. */
const REPORTED_CALLS = 15;
/** A process that is killed may have charged what its four calls cost without a report. */
const UNREPORTED_TOKENS_MAX = PROCESSES * 4 * 5;

async function spendUntilKilled(options: SpenderOptions): Promise<number> {
  const child = spawn(process.execPath, [SPENDER, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  let [calls, tokens] = [0, 0];
  createInterface({ input: child.stdout }).on('line', (line) => {
    tokens += Number(line);
    if (++calls === REPORTED_CALLS) child.kill('SIGKILL');
  });
  await closed;
  return tokens;
}

async function accountOf(database: Database) {
  const [{ credits, charged }] = await database.query<{ credits: number; charged: number }>(
    'SELECT credits, (SELECT SUM(charged) FROM usage_minutes) AS charged FROM api_keys',
  );
  return { credits, charged };
}

storeTest('the ledger balances after processes are killed during calls', async (store) => {
  const database = await store.open();
  await createApiKey(database, newKey(KEY, { credits: CREDITS }), 'operator');
  const options = { place: store.place, keyId: KEY, leaseMs: LEASE_MS };
  const reported = await Promise.all(Array.from({ length: PROCESSES }, () => spendUntilKilled(options)));
  assert.deepEqual(await imbalances(database), []);
  const sum = reported.reduce((a, b) => a + b, 0);
  const { charged } = await accountOf(database);
  assert.ok(charged >= sum && charged <= sum + UNREPORTED_TOKENS_MAX, `${sum} reported, ${charged} charged`);

  await releaseExpiredHolds(database, Date.now() + 2 * LEASE_MS);
  assert.deepEqual(await database.query('SELECT id FROM credit_holds'), []);
  assert.deepEqual(await accountOf(database), { credits: CREDITS - charged, charged });
});
