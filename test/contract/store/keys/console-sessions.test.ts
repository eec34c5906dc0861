import assert from 'node:assert/strict';
import { createApiKey } from '../../../../src/store/keys/api-keys.ts';
import {
  beginSession,
  endSession,
  endSessions,
  keyOfSession,
  listSessions,
  SESSION_IDLE_MS,
  SESSION_MS_MAX,
  SESSIONS_OF_KEY_MAX,
  sessionId,
} from '../../../../src/store/keys/console-sessions.ts';
import { newKey } from '../../../fixture/store/new-key.ts';
import { openedTest } from '../../../fixture/store/stores.ts';

openedTest('a session is found by its token until it was idle too long; using it prolongs it', async (database) => {
  await createApiKey(database, newKey('k'), 'operator');
  await beginSession(database, { token: 'one', keyId: 'k', nowMs: 1_000 });
  assert.equal(await keyOfSession(database, 'one', 1_000 + SESSION_IDLE_MS - 1), 'k');
  assert.equal(await keyOfSession(database, 'one', 1_000 + SESSION_IDLE_MS + 1), 'k');
  assert.equal(await keyOfSession(database, 'two', 1_000), null);
  assert.equal(await keyOfSession(database, 'one', 1_000 + 3 * SESSION_IDLE_MS), null);
});

openedTest('only digests are stored, and what has ended is forgotten', async (database) => {
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

openedTest('a session ends at its absolute lifetime, however much it is used', async (database) => {
  await createApiKey(database, newKey('k'), 'operator');
  await beginSession(database, { token: 'one', keyId: 'k', nowMs: 0 });
  const everyMs = SESSION_IDLE_MS - 1;
  for (let nowMs = everyMs; nowMs < SESSION_MS_MAX; nowMs += everyMs) {
    assert.equal(await keyOfSession(database, 'one', nowMs), 'k', String(nowMs));
  }
  assert.equal(await keyOfSession(database, 'one', SESSION_MS_MAX - 1), 'k');
  assert.equal(await keyOfSession(database, 'one', SESSION_MS_MAX), null);
});

openedTest('sessions are listed and ended by key, by id, or all', async (database) => {
  for (const [i, keyId] of ['a', 'b'].entries()) {
    await createApiKey(database, newKey(keyId), 'operator');
    await beginSession(database, { token: `first of ${keyId}`, keyId, nowMs: i });
    await beginSession(database, { token: `second of ${keyId}`, keyId, nowMs: 10 + i });
  }
  const listed = async (keyId: string | null) =>
    (await listSessions(database, { keyId, nowMs: 20 })).map(({ id, keyId: of, begunAtMs }) => [id, of, begunAtMs]);
  const [first, second] = [sessionId('first of a'), sessionId('second of a')];
  assert.deepEqual(await listed('a'), [
    [second, 'a', 10],
    [first, 'a', 0],
  ]);
  assert.equal((await listed(null)).length, 4);
  assert.equal(await endSessions(database, { keyId: 'b', id: first }), 0, 'it is of another key');
  assert.equal(await endSessions(database, { keyId: 'a', id: first }), 1);
  assert.deepEqual(await listed('a'), [[second, 'a', 10]]);
  assert.equal(await endSessions(database, { keyId: 'b' }), 2);
  assert.equal(await endSessions(database, { keyId: null }), 1);
  assert.deepEqual(await listed(null), []);
});

openedTest('one more session than a key may have ends the one whose last use is longest ago', async (database) => {
  await createApiKey(database, newKey('k'), 'operator');
  for (let i = 0; i <= SESSIONS_OF_KEY_MAX; i++) {
    await beginSession(database, { token: `token ${i}`, keyId: 'k', nowMs: i });
  }
  const left = await listSessions(database, { keyId: 'k', nowMs: SESSIONS_OF_KEY_MAX });
  assert.equal(left.length, SESSIONS_OF_KEY_MAX);
  assert.equal(await keyOfSession(database, 'token 0', SESSIONS_OF_KEY_MAX), null);
});
