/** What a question and its refusal may hold: bounds are said, and nothing is cut without a word. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fakeOperations } from '../../fixture/history/fake-operations.ts';
import { sender } from '../../fixture/http/ask.ts';
import { startApp } from '../../fixture/http/http-service.ts';

const app = await startApp(undefined, { operations: await fakeOperations(), key: { role: 'admin' } });
after(() => app.close());
const send = sender(app);

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly schema: { readonly pattern?: string; readonly enum?: readonly string[]; readonly items?: object };
}

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

/** Counts outside their bounds, which their patterns do not show. */
const BEYOND: Readonly<Record<string, readonly string[]>> = {
  limit: ['0', '-1'],
  page_size: ['0', '1001'],
  recent: ['-1', '121'],
};

test('each parameter of a query refuses what its description excludes, by its name', async () => {
  const { paths } = (await send('GET', '/openapi.json')).body;
  let refused = 0;
  for (const [path, { get }] of Object.entries<{ get?: { parameters?: readonly Parameter[] } }>(paths)) {
    for (const { in: place, name, schema } of get?.parameters ?? []) {
      if (place !== 'query' || (schema.pattern ?? schema.enum ?? schema.items) === undefined) continue;
      for (const value of ['!', ...(BEYOND[name] ?? [])]) {
        const url = `${path.replace(/\{\w+\}/, 'x')}?${name}=${value}`;
        const { status, body } = await send('GET', url);
        const named = body.detail.filter(
          ({ loc }: { loc: readonly string[] }) => loc[0] === 'query' && loc[1] === name,
        );
        assert.deepEqual([status, named.length], [422, 1], url);
        refused++;
      }
    }
  }
  assert.ok(refused > 30, `${refused} parameters`);
  assert.equal((await send('GET', '/v2/async/jobs?page_size=201')).status, 422);
});
