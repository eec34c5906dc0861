import assert from 'node:assert/strict';
import { createApiKey } from '../../../src/store/api-keys.ts';
import { beginSession, endSession, keyOfSession, SESSION_IDLE_MS } from '../../../src/store/console-sessions.ts';
import { newKey } from '../../fixture/store/new-key.ts';
import { storeTest } from '../../fixture/store/stores.ts';

storeTest('a session is found by its token until it was idle for too long, and using it prolongs it', async (store) => {
  const database = await store.open();
  await createApiKey(database, newKey('k'), 'operator');
  await beginSession(database, { token: 'one', keyId: 'k', nowMs: 1_000 });
  assert.equal(await keyOfSession(database, 'one', 1_000 + SESSION_IDLE_MS - 1), 'k');
  assert.equal(await keyOfSession(database, 'one', 1_000 + SESSION_IDLE_MS + 1), 'k');
  assert.equal(await keyOfSession(database, 'two', 1_000), null);
  assert.equal(await keyOfSession(database, 'one', 1_000 + 3 * SESSION_IDLE_MS), null);
});

storeTest('only digests are stored, and what has ended is forgotten', async (store) => {
  const database = await store.open();
  await createApiKey(database, newKey('k'), 'operator');
  await beginSession(database, { token: 'secret-token', keyId: 'k', nowMs: 0 });
  const rows = await database.query('SELECT * FROM console_sessions');
  assert.equal(JSON.stringify(rows).includes('secret-token'), false);
  await endSession(database, 'secret-token');
  assert.equal(await keyOfSession(database, 'secret-token', 1), null);
  await beginSession(database, { token: 'old', keyId: 'k', nowMs: 0 });
  await beginSession(database, { token: 'new', keyId: 'k', nowMs: SESSION_IDLE_MS + 1 });
  assert.equal((await database.query('SELECT * FROM console_sessions')).length, 1);
});
