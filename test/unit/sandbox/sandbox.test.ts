import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Sandbox } from '../../../src/sandbox/sandbox.ts';
import type { SandboxLimits, SandboxOutcome, SandboxRun } from '../../../src/sandbox/sandbox-run.ts';
import { WITHOUT_REPORTS } from '../../../src/sandbox/without-reports.ts';
import { listening } from '../../fixture/http/listening.ts';
import { isRunning } from '../../fixture/running-process.ts';

const PROGRAMS = new URL('../../fixture/sandboxed/', import.meta.url);
const MIB = 1024 * 1024;
/** A limit that no test reaches. */
const LONG_MS = 600_000;

function programOf(setup = '') {
  const entry = new URL('misbehave.ts', PROGRAMS);
  return { entry, setup: Buffer.from(setup), readable: [fileURLToPath(PROGRAMS)] };
}

function sandboxOf(t: TestContext, limits: Partial<SandboxLimits> = {}, setup = '') {
  const sandbox = new Sandbox(programOf(setup), { startMsMax: LONG_MS, ...limits });
  t.after(() => sandbox.close());
  const run = (command: string, options: Partial<SandboxRun> = {}) =>
    sandbox.run(Buffer.from(command), { timeoutMs: LONG_MS, ...options });
  const output = async (command: string) => {
    const outcome = await run(command);
    assert.ok(outcome.kind === 'output', JSON.stringify(outcome));
    return outcome.output.toString();
  };
  return { sandbox, run, output };
}

function refusedWith(outcome: SandboxOutcome, reason: RegExp): void {
  assert.ok(outcome.kind === 'problem', JSON.stringify(outcome));
  assert.match(outcome.text, reason);
}

test('one child does several pieces of work after one setup', async (t) => {
  const { output } = sandboxOf(t, {}, 'what it was given');
  const pid = await output('pid');
  assert.notEqual(pid, String(process.pid));
  assert.equal(await output('echo this and that'), 'this and that');
  assert.equal(await output('setup'), 'what it was given');
  assert.equal(await output('pid'), pid);
});

test('work that throws is a problem with its stack, and the child is reused', async (t) => {
  const { run, output } = sandboxOf(t);
  const pid = await output('pid');
  refusedWith(await run('throw a certain thing'), /^Error: a certain thing\n +at /);
  assert.equal(await output('pid'), pid);
});

test('work reports progress', async (t) => {
  const { run } = sandboxOf(t);
  const reported: string[] = [];
  await run('progress one two three', { onProgress: (bytes) => reported.push(bytes.toString()) });
  assert.deepEqual(reported, ['one', 'two', 'three']);
});

test('work that never yields is killed at its time limit; the next work has a new child', async (t) => {
  const { run, output } = sandboxOf(t);
  const pid = Number(await output('pid'));
  assert.deepEqual(await run('spin', { timeoutMs: 50 }), { kind: 'timeout' });
  assert.ok(!isRunning(pid));
  assert.notEqual(await output('pid'), String(pid));
});

test('the start of a child does not count towards the time limit of its work', async (t) => {
  const { run } = sandboxOf(t);
  assert.equal((await run('progress one', { timeoutMs: LONG_MS })).kind, 'output');
  const starting = sandboxOf(t, { startMsMax: 1 });
  const outcome = await starting.run('echo', { timeoutMs: LONG_MS });
  assert.deepEqual(outcome, { kind: 'ended', text: 'it was not ready after 1 ms' });
});

test('work that fills the heap is out of memory, and the next work has a new child', async (t) => {
  const { run, output } = sandboxOf(t, { heapMbMax: 64 });
  assert.deepEqual(await run('fill-heap'), { kind: 'out-of-memory' });
  assert.equal(await output('echo well'), 'well');
});

const noProc = existsSync('/proc/self/status') ? false : 'there is no /proc here';

test('work that fills memory outside the heap is killed', { skip: noProc }, async (t) => {
  const { run, output } = sandboxOf(t, { memoryMbMax: 300 });
  assert.deepEqual(await run('fill-buffers'), { kind: 'out-of-memory' });
  assert.equal(await output('echo well'), 'well');
});

test('a child that exits is distinguished from a killed one, and replaced', async (t) => {
  const { run, output } = sandboxOf(t);
  const outcome = await run('exit 3');
  assert.ok(outcome.kind === 'ended');
  assert.match(outcome.text, /with code 3/);
  assert.equal(await output('echo well'), 'well');
});

test('a failed setup is reported with its reason', async (t) => {
  const { run } = sandboxOf(t, {}, 'fail');
  const outcome = await run('echo');
  assert.ok(outcome.kind === 'ended');
  assert.match(outcome.text, /no model to be found/);
  assert.equal((await sandboxOf(t, { startMsMax: 500 }, 'hang').run('echo')).kind, 'ended');
});

test('an output above its limit is refused before memory is allocated', async (t) => {
  const { run, output } = sandboxOf(t, { outputBytesMax: MIB });
  assert.equal((await output(`output ${MIB}`)).length, MIB);
  assert.deepEqual(await run(`output ${MIB + 1}`), { kind: 'output-too-large' });
});

test('an input above its limit is refused by the child, which ends; the next work has a new one', async (t) => {
  const { run, output } = sandboxOf(t, { inputBytesMax: 1_000 });
  assert.equal((await output(`echo ${'x'.repeat(995)}`)).length, 995);
  assert.equal((await run(`echo ${'x'.repeat(996)}`)).kind, 'ended');
  assert.equal(await output('echo well'), 'well');
});

const stopAtFirstProgress = (run: ReturnType<typeof sandboxOf>['run'], command: string) => {
  const stop = new AbortController();
  return run(command, { signal: stop.signal, onProgress: () => stop.abort() });
};

test('work that obeys the abort signal stops, and its child is reused', async (t) => {
  const { run, output } = sandboxOf(t, { stopMsMax: LONG_MS });
  const pid = await output('pid');
  assert.deepEqual(await stopAtFirstProgress(run, 'wait-for-stop'), { kind: 'stopped' });
  assert.deepEqual(await run('pid', { signal: AbortSignal.abort() }), { kind: 'stopped' });
  assert.equal(await output('pid'), pid);
});

test('work that ignores the abort signal is killed', async (t) => {
  const { run, output } = sandboxOf(t, { stopMsMax: 10 });
  const pid = await output('pid');
  assert.deepEqual(await stopAtFirstProgress(run, 'never-stop'), { kind: 'stopped' });
  assert.notEqual(await output('pid'), pid);
});

test('work has no environment, reads only its own files, writes none and starts no process', async (t) => {
  const { run, output } = sandboxOf(t);
  assert.deepEqual(JSON.parse(await output('environment')), WITHOUT_REPORTS);
  refusedWith(await run('read /etc/passwd'), /Use --allow-fs-read/);
  refusedWith(await run('read /proc/self/environ'), /Use --allow-fs-read/);
  const file = join(tmpdir(), `tidewatch-sandbox-${process.pid}`);
  refusedWith(await run(`write ${file}`), /Use --allow-fs-write/);
  assert.ok(!existsSync(file));
  refusedWith(await run('spawn true'), /Use --allow-child-process/);
  refusedWith(await run(`kill ${process.pid}`), /other processes is refused/);
});

test('work has no network on any thread', async (t) => {
  const { run } = sandboxOf(t);
  const port = await listening(createServer(() => assert.fail('a connection was accepted')));
  for (const command of [`connect ${port}`, `connect-thread ${port}`, 'listen', 'datagram 9', 'look-up localhost']) {
    refusedWith(await run(command), /the network is refused in the sandbox/);
  }
  refusedWith(await run(`fetch http://127.0.0.1:${port}/`), /the network is refused in the sandbox/);
});

test('a child has ended when its sandbox is closed', async (t) => {
  const { sandbox, output } = sandboxOf(t);
  const pid = Number(await output('pid'));
  await sandbox.close();
  assert.ok(!isRunning(pid));
});

test('close stops running work', async (t) => {
  const { sandbox, run } = sandboxOf(t);
  const closed = Promise.withResolvers<void>();
  const outcome = await run('never-stop', { onProgress: () => sandbox.close().then(closed.resolve) });
  assert.deepEqual(outcome, { kind: 'stopped' });
  await closed.promise;
});

test('work that is aborted while its child starts does not begin', async (t) => {
  const { run } = sandboxOf(t);
  const stop = new AbortController();
  const outcome = run('never-stop', { signal: stop.signal, onProgress: () => assert.fail('it began') });
  stop.abort();
  assert.deepEqual(await outcome, { kind: 'stopped' });
});

test('an idle child ends', async (t) => {
  const { output } = sandboxOf(t, { idleMsMax: 1 });
  const pid = Number(await output('pid'));
  const alive = setInterval(() => {}, 1_000);
  t.after(() => clearInterval(alive));
  while (isRunning(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.notEqual(await output('pid'), String(pid));
});

test('a child that cannot be started fails its own work; the process and the work after it continue', async () => {
  const script = fileURLToPath(new URL('out-of-files.ts', PROGRAMS));
  const limited = spawn('sh', ['-c', `ulimit -n 64; exec "${process.execPath}" "${script}"`], { stdio: 'pipe' });
  const [printed, complaints] = await Promise.all([text(limited.stdout), text(limited.stderr)]);
  assert.equal(printed, 'ended\nhello\n', complaints);
});
