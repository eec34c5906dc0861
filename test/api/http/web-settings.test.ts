import assert from 'node:assert/strict';
import { cp, writeFile } from 'node:fs/promises';
import { request, type Server } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { readTls, renewTls } from '../../../src/api/http/tls-files.ts';
import { isExposed } from '../../../src/api/http/web-settings.ts';
import { createLogger } from '../../../src/ops/logger.ts';
import { certificateOf, noOpenssl } from '../../fixture/certificate.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { AUTHORIZED, startApp } from '../../fixture/http/http-service.ts';
import { until } from '../../fixture/until.ts';

const folder = freshFolder();

/** Status of a request over TLS, and the name in the certificate that answered. */
function askOver(url: string): Promise<{ status: number | undefined; name: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number | undefined; name: string }>();
  const sent = request(`${url}/validate_api_key`, { rejectUnauthorized: false, agent: false, headers: AUTHORIZED });
  sent.on('response', (answer) => {
    const socket = answer.socket as import('node:tls').TLSSocket;
    resolve({ status: answer.statusCode, name: String(socket.getPeerCertificate().subject.CN) });
    answer.resume();
  });
  sent.on('error', reject).end();
  return promise;
}

test('the service speaks TLS, and takes a renewed certificate without a restart', { skip: noOpenssl }, async (t) => {
  const [first, second] = [certificateOf(folder, 'first'), certificateOf(folder, 'second')];
  const used = { certPath: join(folder, 'used.pem'), keyPath: join(folder, 'used.key') };
  const use = async ({ certPath, keyPath }: typeof used) => {
    await cp(certPath, used.certPath);
    await cp(keyPath, used.keyPath);
  };
  await use(first);
  const tls = await readTls(used);
  const app = await startApp(undefined, { web: { tls } });
  t.after(() => app.close());
  const lines: string[] = [];
  const logger = createLogger('info', { write: (line) => void lines.push(line) });
  renewTls(app.server as unknown as Server, tls, { paths: used, logger, checkMs: 20 });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  assert.match(url, /^https:/);
  assert.deepEqual(await askOver(url), { status: 200, name: 'first' });
  await writeFile(used.keyPath, '');
  await until('it is logged', () => lines.some((line) => line.includes('is not renewed')), { everyMs: 10 });
  assert.deepEqual(await askOver(url), { status: 200, name: 'first' });
  await use(second);
  await until('it is renewed', () => lines.some((line) => line.includes('was renewed')), { everyMs: 10 });
  assert.deepEqual(await askOver(url), { status: 200, name: 'second' });
});

test('a certificate that cannot be used is a problem of the configuration', { skip: noOpenssl }, async () => {
  const { certPath } = certificateOf(folder, 'one');
  const { keyPath } = certificateOf(folder, 'other');
  await assert.rejects(readTls({ certPath, keyPath }), { code: 'configuration', message: /HTTP_TLS_CERT/ });
  const empty = join(folder, 'empty');
  await writeFile(empty, '');
  await assert.rejects(readTls({ certPath: empty, keyPath: empty }), { code: 'configuration', message: /incomplete/ });
});

test('only pages of configured origins may call the service', async () => {
  const app = await startApp(undefined, { web: { corsOrigins: ['https://console.example'] } });
  const preflight = (origin: string) => ({
    method: 'OPTIONS' as const,
    url: '/v2/forecast',
    headers: { origin, 'access-control-request-method': 'POST' },
  });
  const allowed = await app.inject(preflight('https://console.example'));
  assert.equal(allowed.statusCode, 204);
  assert.equal(allowed.headers['access-control-allow-origin'], 'https://console.example');
  assert.match(String(allowed.headers['access-control-allow-headers']), /authorization/);
  assert.equal((await app.inject(preflight('https://evil.example'))).headers['access-control-allow-origin'], undefined);
  const headers = { ...AUTHORIZED, origin: 'https://console.example' };
  const answer = await app.inject({ url: '/usage', headers });
  assert.equal(answer.headers['access-control-allow-origin'], 'https://console.example');
  assert.match(String(answer.headers.vary), /Origin.*accept-encoding/i);
  const none = await (await startApp()).inject({ url: '/usage', headers });
  assert.equal(none.headers['access-control-allow-origin'], undefined);
});

/** How many of so many connections from this machine stay open. */
async function openOf(trustedProxies: readonly string[], connections: number): Promise<number> {
  const app = await startApp(undefined, { limits: { perAddressMax: 2 }, web: { trustedProxies } });
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
  const sockets = await Promise.all(
    Array.from({ length: connections }, () => {
      const socket = connect(Number(port), '127.0.0.1');
      const { promise, resolve } = Promise.withResolvers<boolean>();
      socket.on('error', () => {}).once('close', () => resolve(false));
      socket.write('GET /health HTTP/1.1\r\nhost: x\r\n\r\n');
      socket.once('data', () => resolve(true));
      return promise.then((open) => ({ socket, open }));
    }),
  );
  for (const { socket } of sockets) socket.destroy();
  await app.close();
  return sockets.filter(({ open }) => open).length;
}

test('a trusted proxy may open more connections than one address', async () => {
  assert.equal(await openOf([], 5), 2);
  assert.equal(await openOf(['127.0.0.0/8'], 5), 5);
});

test('a service that other machines reach is exposed, unless it speaks TLS or a proxy in front does', () => {
  const exposed = (host: string, encrypted = false, trustedProxies: readonly string[] = []) =>
    isExposed({ host, encrypted, trustedProxies });
  const hosts = ['127.0.0.1', '127.9.9.9', '::1', 'localhost', '0.0.0.0', '::', '10.0.0.1', 'example.com'];
  const actual = hosts.map((host) => exposed(host));
  assert.deepEqual(actual, [false, false, false, false, true, true, true, true]);
  assert.deepEqual([exposed('0.0.0.0', true), exposed('0.0.0.0', false, ['10.0.0.1'])], [false, false]);
});
