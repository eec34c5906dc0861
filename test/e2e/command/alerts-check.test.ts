import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { startHttpReceiver } from '../../fixture/alerts/http-receiver.ts';
import { runCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';

const folder = freshFolder();

async function routesFile(content: string): Promise<string> {
  const path = join(folder, 'routes.yaml');
  await writeFile(path, content);
  return path;
}

const routesTo = (receivers: string) => `
allow_private: [127.0.0.1]
receivers: ${receivers}
routes: [{ name: all, receivers: hook }]`;

test('alerts --check takes a right file, without a broker', async () => {
  const path = await routesFile(routesTo('[{ name: hook, webhook: { url: "https://example.com" } }]'));
  const { exitCode, out, err } = await runCommand(['alerts', '--routes', path, '--check']);
  assert.deepEqual(err, []);
  assert.deepEqual(out, [`${path} is valid. Routes: all. Receivers: hook.`]);
  assert.equal(exitCode, 0);
});

test('alerts --check reports every problem of a wrong file, and ends with 2', async () => {
  const path = await routesFile('receivers: [{ name: hook, webhok: {} }]\nroutes: [{ name: all, receivers: hok }]');
  const { exitCode, out, err } = await runCommand(['alerts', '--routes', path, '--check']);
  assert.equal(exitCode, 2);
  assert.deepEqual(out, []);
  assert.match(err[0], /wrong in 3 places/);
  assert.match(err.join('\n'), /:1: receivers\[0\]\.webhok is not a known key; did you mean webhook\?/);
  assert.match(err.join('\n'), /:2: routes\[0\]\.receivers must be .*did you mean hook\?/);
});

test('problems of flags, environment and routes file are reported together', async () => {
  const path = await routesFile(
    'receivers: [{ name: hook, slack: {} }]\nroutes: [{ name: all, receivers: hook, mut: x }]',
  );
  const { exitCode, err } = await runCommand(['alerts', '--routes', path, '--ops-port', 'x'], { LOG_LEVEL: 'loud' });
  assert.equal(exitCode, 2);
  assert.deepEqual(
    err
      .slice(1)
      .map((line) => /--ops-port|LOG_LEVEL|KAFKA_BROKERS|slack\.url|routes\[0\]\.mut /.exec(line)?.[0].trim()),
    ['--ops-port', 'LOG_LEVEL', 'KAFKA_BROKERS', 'slack.url', 'routes[0].mut'],
  );
});

test('alerts --test sends one message to a receiver and prints that it was accepted', async () => {
  const hook = await startHttpReceiver();
  const path = await routesFile(routesTo(`[{ name: hook, webhook: { url: "${hook.url}/in" } }]`));
  const { exitCode, out } = await runCommand(['alerts', '--routes', path, '--test', 'hook']);
  assert.deepEqual(out, ['hook: the test message (opened) is accepted']);
  assert.equal(exitCode, 0);
  assert.equal(hook.posts.length, 1);
  const { data } = JSON.parse(hook.posts[0].body);
  assert.match(data.text, /Test message of Tidewatch: nothing is wrong/);
});

test('alerts --test closes what it opened where a receiver keeps it', async () => {
  const pager = await startHttpReceiver((response) => response.writeHead(202).end('{"status":"success"}'));
  const path = await routesFile(routesTo(`[{ name: hook, pagerduty: { url: "${pager.url}", routing_key_env: KEY } }]`));
  const { exitCode, out } = await runCommand(['alerts', '--routes', path, '--test', 'hook'], { KEY: 'k'.repeat(32) });
  assert.equal(exitCode, 0, out.join('\n'));
  const posts = pager.posts.map(({ body }) => JSON.parse(body));
  const actions = posts.map((post) => post.event_action);
  assert.deepEqual(actions, ['trigger', 'resolve']);
  assert.equal(posts[0].dedup_key, posts[1].dedup_key);
});

test('alerts --test prints the answer of a receiver that refuses, and ends with 1', async () => {
  const hook = await startHttpReceiver((response) => response.writeHead(403).end('no such token'));
  const path = await routesFile(routesTo(`[{ name: hook, webhook: { url: "${hook.url}" } }]`));
  const { exitCode, out } = await runCommand(['alerts', '--routes', path, '--test', 'hook']);
  assert.deepEqual(out, ['hook: the test message (opened) is refused: status 403: no such token']);
  assert.equal(exitCode, 1);
});

test('alerts --test with an unknown receiver comes with the nearest one, and ends with 2', async () => {
  const path = await routesFile(routesTo('[{ name: hook, webhook: { url: "https://example.com" } }]'));
  const { exitCode, err } = await runCommand(['alerts', '--routes', path, '--test', 'hok']);
  assert.match(err[1], /--test must be a receiver of the routes file \(hook\), got "hok"; did you mean hook\?/);
  assert.equal(exitCode, 2);
});
