import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Sandbox } from '../../../src/sandbox/sandbox.ts';
import type { SandboxLimits, SandboxOutcome, SandboxRun } from '../../../src/sandbox/sandbox-run.ts';
import { isRunning } from '../../fixture/running-process.ts';

const PROGRAMS = new URL('../../fixture/sandboxed/', import.meta.url);
const MIB = 1024 * 1024;
/** No test waits for it, on any machine. */
const LONG_MS = 600_000;

function programOf(setup = '') {
  const entry = new URL('misbehave.ts', PROGRAMS);
  return { entry, setup: Buffer.from(setup), readable: [fileURLToPath(PROGRAMS)] };
}

function sandboxOf(t: TestContext, limits: Partial<SandboxLimits> = {}, setup = '') {
  const sandbox = new Sandbox(programOf(setup), { startMsMax: LONG_MS, ...limits });
  t.after(() => sandbox.close());
  const run = (deed: string, options: Partial<SandboxRun> = {}) =>
    sandbox.run(Buffer.from(deed), { timeoutMs: LONG_MS, ...options });
  const made = async (deed: string) => {
    const outcome = await run(deed);
    assert.ok(outcome.kind === 'output', JSON.stringify(outcome));
    return outcome.output.toString();
  };
  return { sandbox, run, made };
}

function refusedWith(outcome: SandboxOutcome, reason: RegExp): void {
  assert.ok(outcome.kind === 'problem', JSON.stringify(outcome));
  assert.match(outcome.text, reason);
}

test('one child does work after work, made ready once', async (t) => {
  const { made } = sandboxOf(t, {}, 'what it was given');
  const pid = await made('pid');
  assert.notEqual(pid, String(process.pid));
  assert.equal(await made('echo this and that'), 'this and that');
  assert.equal(await made('setup'), 'what it was given');
  assert.equal(await made('pid'), pid);
});

test('work that throws fails alone, with its stack', async (t) => {
  const { run, made } = sandboxOf(t);
  const pid = await made('pid');
  refusedWith(await run('throw a certain thing'), /^Error: a certain thing\n +at /);
  assert.equal(await made('pid'), pid);
});

test('work tells how far it has come', async (t) => {
  const { run } = sandboxOf(t);
  const told: string[] = [];
  await run('progress one two three', { onProgress: (bytes) => told.push(bytes.toString()) });
  assert.deepEqual(told, ['one', 'two', 'three']);
});

test('work that spins is killed at its time limit; the next work has a new child', async (t) => {
  const { run, made } = sandboxOf(t);
  const pid = Number(await made('pid'));
  assert.deepEqual(await run('spin', { timeoutMs: 50 }), { kind: 'timeout' });
  assert.ok(!isRunning(pid));
  assert.notEqual(await made('pid'), String(pid));
});

test('the time a child takes to start is none of the time of its work', async (t) => {
  const { run } = sandboxOf(t);
  assert.equal((await run('progress one', { timeoutMs: LONG_MS })).kind, 'output');
  const starting = sandboxOf(t, { startMsMax: 1 });
  const outcome = await starting.run('echo', { timeoutMs: LONG_MS });
  assert.deepEqual(outcome, { kind: 'ended', text: 'it was not ready after 1 ms' });
});

test('work that fills the heap fails, and the next work has a new child', async (t) => {
  const { run, made } = sandboxOf(t, { heapMbMax: 64 });
  assert.deepEqual(await run('fill-heap'), { kind: 'out-of-memory' });
  assert.equal(await made('echo well'), 'well');
});

const noProc = existsSync('/proc/self/status') ? false : 'there is no /proc here';

test('work that fills memory outside the heap is killed', { skip: noProc }, async (t) => {
  const { run, made } = sandboxOf(t, { memoryMbMax: 300 });
  assert.deepEqual(await run('fill-buffers'), { kind: 'out-of-memory' });
  assert.equal(await made('echo well'), 'well');
});

test('a child that ends by itself is told from one that was killed, and replaced', async (t) => {
  const { run, made } = sandboxOf(t);
  const outcome = await run('exit 3');
  assert.ok(outcome.kind === 'ended');
  assert.match(outcome.text, /with code 3/);
  assert.equal(await made('echo well'), 'well');
});

test('a program that cannot make itself ready says why', async (t) => {
  const { run } = sandboxOf(t, {}, 'fail');
  const outcome = await run('echo');
  assert.ok(outcome.kind === 'ended');
  assert.match(outcome.text, /no model to be found/);
  assert.equal((await sandboxOf(t, { startMsMax: 500 }, 'hang').run('echo')).kind, 'ended');
});

test('an output beyond its limit is refused before memory is taken for it', async (t) => {
  const { run, made } = sandboxOf(t, { outputBytesMax: MIB });
  assert.equal((await made(`output ${MIB}`)).length, MIB);
  assert.deepEqual(await run(`output ${MIB + 1}`), { kind: 'output-too-large' });
});

test('an input beyond its limit is refused by the child, which ends; the next work has a new one', async (t) => {
  const { run, made } = sandboxOf(t, { inputBytesMax: 1_000 });
  assert.equal((await made(`echo ${'x'.repeat(995)}`)).length, 995);
  assert.equal((await run(`echo ${'x'.repeat(996)}`)).kind, 'ended');
  assert.equal(await made('echo well'), 'well');
});

const stoppedAtFirstWord = (run: ReturnType<typeof sandboxOf>['run'], deed: string) => {
  const stop = new AbortController();
  return run(deed, { signal: stop.signal, onProgress: () => stop.abort() });
};

test('work that is told to stop stops, and its child goes on', async (t) => {
  const { run, made } = sandboxOf(t, { stopMsMax: LONG_MS });
  const pid = await made('pid');
  assert.deepEqual(await stoppedAtFirstWord(run, 'wait-for-stop'), { kind: 'stopped' });
  assert.deepEqual(await run('pid', { signal: AbortSignal.abort() }), { kind: 'stopped' });
  assert.equal(await made('pid'), pid);
});

test('work that goes on although it was told to stop is killed', async (t) => {
  const { run, made } = sandboxOf(t, { stopMsMax: 10 });
  const pid = await made('pid');
  assert.deepEqual(await stoppedAtFirstWord(run, 'never-stop'), { kind: 'stopped' });
  assert.notEqual(await made('pid'), pid);
});

test('work sees no environment, no file but its own, writes nothing and starts nothing', async (t) => {
  const { run, made } = sandboxOf(t);
  assert.equal(await made('environment'), '{}');
  refusedWith(await run('read /etc/passwd'), /Use --allow-fs-read/);
  refusedWith(await run('read /proc/self/environ'), /Use --allow-fs-read/);
  const file = join(tmpdir(), `tidewatch-sandbox-${process.pid}`);
  refusedWith(await run(`write ${file}`), /Use --allow-fs-write/);
  assert.ok(!existsSync(file));
  refusedWith(await run('spawn true'), /Use --allow-child-process/);
  refusedWith(await run(`kill ${process.pid}`), /other processes is refused/);
});

test('work has no network, on no thread', async (t) => {
  const { run } = sandboxOf(t);
  const server = createServer(() => assert.fail('somebody came in')).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  for (const deed of [`connect ${port}`, `connect-thread ${port}`, 'listen', 'datagram 9', 'look-up localhost']) {
    refusedWith(await run(deed), /the network is refused in the sandbox/);
  }
  refusedWith(await run(`fetch http://127.0.0.1:${port}/`), /the network is refused in the sandbox/);
});

test('a child has ended when its sandbox is closed', async (t) => {
  const { sandbox, made } = sandboxOf(t);
  const pid = Number(await made('pid'));
  await sandbox.close();
  assert.ok(!isRunning(pid));
});

test('work whose sandbox is closed was stopped', async (t) => {
  const { sandbox, run } = sandboxOf(t);
  const closed = Promise.withResolvers<void>();
  const outcome = await run('never-stop', { onProgress: () => sandbox.close().then(closed.resolve) });
  assert.deepEqual(outcome, { kind: 'stopped' });
  await closed.promise;
});

test('work that is told to stop while its child starts does not begin', async (t) => {
  const { run } = sandboxOf(t);
  const stop = new AbortController();
  const outcome = run('never-stop', { signal: stop.signal, onProgress: () => assert.fail('it began') });
  stop.abort();
  assert.deepEqual(await outcome, { kind: 'stopped' });
});

test('an idle child ends and gives its memory back', async (t) => {
  const { made } = sandboxOf(t, { idleMsMax: 1 });
  const pid = Number(await made('pid'));
  const alive = setInterval(() => {}, 1_000);
  t.after(() => clearInterval(alive));
  while (isRunning(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.notEqual(await made('pid'), String(pid));
});
