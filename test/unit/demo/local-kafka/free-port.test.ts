import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { freePort } from '../../../../src/demo/local-kafka/free-port.ts';

/** Of Linux; other systems begin higher. */
const FIRST_OF_CONNECTIONS = 32_768;

const MODULE = new URL('../../../../src/demo/local-kafka/free-port.ts', import.meta.url);

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

test("a port that a process was given is no other's until that one ends", async (t) => {
  const script = `import { freePort } from '${MODULE}'; console.log(await freePort()); setInterval(() => {}, 1e6);`;
  const other = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => other.kill('SIGKILL'));
  const [printed] = await once(other.stdout, 'data');
  const given = Number(printed);
  assert.notEqual(await freePort(given), given);
  other.kill('SIGKILL');
  await once(other, 'exit');
  assert.equal(await freePort(given), given);
});

test('a wanted port is not held: another process may want it next', async () => {
  const wanted = await portOfEndedProcess();
  assert.equal(await freePort(wanted), wanted);
  assert.equal(await portOfEndedProcess(wanted), wanted);
});

async function portOfEndedProcess(wanted = 0): Promise<number> {
  const script = `import { freePort } from '${MODULE}'; console.log(await freePort(${wanted}));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  return Number(stdout);
}
