import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from '../../fixture/http/ask.ts';
import { startApp } from '../../fixture/http/http-service.ts';

test('the documentation page needs no key and loads from the service alone', async () => {
  const app = await startApp();
  const page = await app.inject({ url: '/docs/' });
  assert.equal(page.statusCode, 200);
  assert.match(String(page.headers['content-type']), /^text\/html/);
  const policy = String(page.headers['content-security-policy']);
  assert.match(policy, /default-src 'self'/);
  assert.doesNotMatch(policy, /https?:|upgrade-insecure-requests|\*/, 'a service without TLS has a page, too');
  assert.match(page.body, /<title>Tidewatch<\/title>/);
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

test('the page shows the document of /openapi.json and is not part of it', async () => {
  const app = await startApp();
  const [shown, described] = await Promise.all(['/docs/json', '/openapi.json'].map((url) => app.inject({ url })));
  assert.deepEqual(shown!.json(), described!.json());
  const actual = Object.keys(described!.json().paths).filter((path) => path.startsWith('/docs'));
  assert.deepEqual(actual, []);
});

test('the examples of the page succeed', async () => {
  const app = await startApp(undefined, { key: { role: 'admin' } });
  const { paths } = (await app.inject({ url: '/openapi.json' })).json();
  const offered = Object.keys(paths).flatMap((url) => {
    const example = paths[url].post?.requestBody?.content['application/json'].example;
    return example === undefined ? [] : [{ url, example }];
  });
  assert.ok(offered.length >= 9);
  for (const { url, example } of offered) {
    const { status, body } = await ask(app, url, example);
    assert.equal(status, url.endsWith('/async') ? 202 : 200, `${url} ${JSON.stringify(body)}`);
  }
});

test('every endpoint has a described tag, and every response a description', async () => {
  const app = await startApp();
  const { tags, paths } = (await app.inject({ url: '/openapi.json' })).json();
  const known = tags.map(({ name }: { name: string }) => name);
  for (const [path, methods] of Object.entries<Record<string, { tags: string[]; responses: object }>>(paths)) {
    for (const { tags: groups, responses } of Object.values(methods)) {
      assert.ok(groups.length === 1 && known.includes(groups[0]), path);
      for (const [status, { description }] of Object.entries(responses)) {
        assert.notEqual(description, 'Default Response', `${path} ${status}`);
      }
    }
  }
});
