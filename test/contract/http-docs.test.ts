import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../fixture/http-service.ts';

test('the page of the documentation needs no key and loads all that it shows from the service itself', async () => {
  const app = await startApp();
  const page = await app.inject({ url: '/docs/' });
  assert.equal(page.statusCode, 200);
  assert.match(String(page.headers['content-type']), /^text\/html/);
  assert.match(String(page.headers['content-security-policy']), /default-src 'self'/);
  const loaded = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(
    ([, url]) => new URL(url!, 'http://here/docs/'),
  );
  assert.ok(loaded.length > 0);
  assert.equal((await app.inject({ url: '/docs' })).statusCode, 200);
  for (const { host, pathname } of loaded) {
    assert.equal(host, 'here');
    assert.equal((await app.inject({ url: pathname })).statusCode, 200, pathname);
  }
});

test('the page shows the same document as /openapi.json, and is not in it', async () => {
  const app = await startApp();
  const [shown, described] = await Promise.all(['/docs/json', '/openapi.json'].map((url) => app.inject({ url })));
  assert.deepEqual(shown!.json(), described!.json());
  assert.deepEqual(
    Object.keys(described!.json().paths).filter((path) => path.startsWith('/docs')),
    [],
  );
});
