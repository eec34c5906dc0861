import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { freePort } from '../../../src/local-kafka/free-port.ts';

/** Of Linux; other systems begin higher. */
const FIRST_OF_CONNECTIONS = 32_768;

test('free ports are below those of connections, and no two are alike', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, () => freePort()));
  assert.ok(ports.every((port) => port > 1_024 && port < FIRST_OF_CONNECTIONS));
  assert.equal(new Set(ports).size, ports.length);
});

test('a wanted port is taken where it is free, and another where it is not', async (t) => {
  const wanted = await freePort();
  assert.equal(await freePort(wanted), wanted);
  const taken = createServer().listen(wanted, '127.0.0.1');
  t.after(() => taken.close());
  await once(taken, 'listening');
  assert.notEqual(await freePort(wanted), wanted);
});
