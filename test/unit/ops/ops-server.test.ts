import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { freePort } from '../../../src/demo/local-kafka/free-port.ts';
import { createMetrics, type Metrics } from '../../../src/ops/metrics.ts';
import { startOpsServer } from '../../../src/ops/ops-server.ts';

async function start(
  t: TestContext,
  reasons: readonly string[] = [],
  metrics = createMetrics({ collectProcess: false }),
) {
  const server = await startOpsServer({ host: '127.0.0.1', port: 0, metrics, reasonsNotReady: () => reasons });
  t.after(() => server.close());
  return server;
}

test('a process that answers is healthy, also while it is not ready', async (t) => {
  const { url } = await start(t, ['Kafka cannot be reached']);
  const response = await fetch(`${url}/healthz`);
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { status: 'ok' });
});

test('readiness is 503 with the reasons until there are none', async (t) => {
  const reasons = ['Kafka cannot be reached', 'no partitions were assigned yet'];
  const { url } = await start(t, reasons);
  const before = await fetch(`${url}/readyz`);
  assert.equal(before.status, 503);
  assert.deepEqual(await before.json(), { status: 'not ready', reasons });
  reasons.length = 0;
  const after = await fetch(`${url}/readyz?probe=1`);
  assert.equal(after.status, 200);
  assert.deepEqual(await after.json(), { status: 'ready' });
});

test('metrics are served in the format of Prometheus', async (t) => {
  const metrics = createMetrics({ collectProcess: true });
  const { url } = await start(t, [], metrics);
  metrics.deadLetters.inc({ reason: 'late' }, 3);
  const response = await fetch(`${url}/metrics`);
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  const text = await response.text();
  assert.match(text, /^tidewatch_dead_letters_total\{reason="late"\} 3$/m);
  assert.match(text, /^process_resident_memory_bytes \d/m);
});

test('a port that is taken is skipped where further ones may be used', async (t) => {
  const taken = Number(new URL((await start(t)).url).port);
  const free = await freePort();
  const metrics = createMetrics({ collectProcess: false });
  const place = { host: '127.0.0.1', port: taken, furtherPorts: [taken, free] };
  const server = await startOpsServer({ ...place, metrics, reasonsNotReady: () => [] });
  t.after(() => server.close());
  assert.equal(server.url, `http://127.0.0.1:${free}`);
});

test('a failed collection of metrics is a 500, and the server continues', async (t) => {
  const failing = { registry: { contentType: 'x', metrics: () => Promise.reject(new Error('no figures')) } };
  const { url } = await start(t, [], failing as unknown as Metrics);
  const response = await fetch(`${url}/metrics`);
  assert.equal(response.status, 500);
  assert.match(await response.text(), /no figures/);
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
});

test('other paths and methods are refused', async (t) => {
  const { url } = await start(t);
  assert.equal((await fetch(`${url}/`)).status, 404);
  const post = await fetch(`${url}/healthz`, { method: 'POST', body: 'x' });
  assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET, HEAD']);
  const head = await fetch(`${url}/healthz`, { method: 'HEAD' });
  assert.deepEqual([head.status, await head.text()], [200, '']);
});

test('a port in use is reported in one sentence', async (t) => {
  const { url } = await start(t);
  const port = Number(new URL(url).port);
  const metrics = createMetrics({ collectProcess: false });
  await assert.rejects(startOpsServer({ host: '127.0.0.1', port, metrics, reasonsNotReady: () => [] }), {
    name: 'ServiceError',
    code: 'configuration',
    message: `127.0.0.1:${port} is taken by another program; set OPS_HOST and OPS_PORT (--ops-port), 0 for any free port`,
  });
});

test('closing ends open connections', async () => {
  const metrics = createMetrics({ collectProcess: false });
  const server = await startOpsServer({ host: '127.0.0.1', port: 0, metrics, reasonsNotReady: () => [] });
  await (await fetch(`${server.url}/healthz`)).text();
  await server.close();
  await assert.rejects(fetch(`${server.url}/healthz`));
});
