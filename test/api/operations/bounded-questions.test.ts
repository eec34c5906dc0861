/** What a question and its refusal may hold: bounds are said, and nothing is cut without a word. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fakeOperations } from '../../fixture/history/fake-operations.ts';
import { sender } from '../../fixture/http/ask.ts';
import { startApp } from '../../fixture/http/http-service.ts';

const app = await startApp(undefined, { operations: await fakeOperations(), key: { role: 'admin' } });
after(() => app.close());
const send = sender(app);

test('a refusal repeats a bounded part of what was sent', async () => {
  for (const text of ['!', '[', '{', '&a '].map((part) => part.repeat(100_000 / part.length))) {
    const saved = await send('PUT', '/v1/detectors', { text, base_version: null });
    const named = await send('PUT', '/v1/detectors', { [text]: 1, base_version: null });
    for (const { status, body } of [saved, named]) {
      assert.equal(status, 422);
      assert.ok(JSON.stringify(body).length < 2_500, text.slice(0, 3));
    }
  }
});

test('no list cuts what is asked for: a page larger than it has is refused with its bounds', async () => {
  const lists = ['series', 'groups', 'events', 'incidents', 'changes', 'sent', 'dead-letters'];
  for (const list of lists) assert.equal((await send('GET', `/v1/${list}?limit=1000`)).status, 200, list);
  for (const url of [...lists.map((list) => `${list}?limit=1001`), 'live?limit=1001', 'series/a/scores?points=20001']) {
    const { status, body } = await send('GET', `/v1/${url}`);
    assert.deepEqual([status, body.detail[0].loc[0]], [422, 'query'], url);
    assert.match(body.detail[0].msg, /^Input should be an integer from 1 to (1000|20000)$/);
  }
});
