import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../service-error.ts';

const readyMsMax = 60_000;
const probeMs = 25;
/** How long a server may take to end by itself before it is killed. */
const stopMsMax = 10_000;

export interface JavaProcess {
  /** Resolves when it has ended, for whatever reason. */
  readonly ended: Promise<void>;
  /** Asks it to end (SIGTERM), kills it after 10 s. */
  stop(): Promise<void>;
  /** SIGKILL: what a fault test means by a crash. */
  kill(): Promise<void>;
  /** Stands still (SIGSTOP) until it is let go on: connections stay open and nobody answers. */
  freeze(): void;
  thaw(): void;
}

export interface JavaServer {
  readonly name: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Everything the server prints; begun anew at each start. */
  readonly logFile: string;
  /** Asked every 25 ms, with what was printed so far, until it says yes. */
  ready(printed: string): boolean | Promise<boolean>;
  /** Why it ended while it started, where what it printed tells; otherwise the last lines of that are shown. */
  explainEnd?(printed: string): ServiceError | null;
}

/**
 * Starts a server on the machine's Java and waits until it is ready. It runs in a process group of its own, so that a Ctrl-C
 * reaches this process first and the server is stopped last; it ends with this process however that ends.
 */
export async function startJava(server: JavaServer): Promise<JavaProcess> {
  const log = openSync(server.logFile, 'w');
  const child = spawn('java', server.args, { cwd: server.cwd, stdio: ['ignore', log, log], detached: true });
  const exited = once(child, 'exit').then(
    () => undefined,
    () => undefined,
  );
  closeSync(log);
  const guard = child.pid === undefined ? null : guardAgainstOrphan(child.pid);
  void exited.then(() => guard?.kill());

  const end = async (signal: NodeJS.Signals, msMax: number) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    child.kill(signal);
    const late = setTimeout(() => child.kill('SIGKILL'), msMax);
    await exited;
    clearTimeout(late);
  };
  const stop = () => end('SIGTERM', stopMsMax);
  const kill = () => end('SIGKILL', stopMsMax);

  try {
    await waitUntilReady(server, child);
  } catch (error) {
    await kill();
    throw error;
  }
  child.unref();
  return {
    ended: exited,
    stop,
    kill,
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
  };
}

/**
 * A shell that waits for the end of a pipe whose other end only we hold: when this process dies, even by SIGKILL, the shell
 * reads the end of the file and ends the server, which would otherwise live on.
 */
function guardAgainstOrphan(pid: number): ChildProcess {
  const script = 'read -r _; kill "$0"; for _ in 1 2 3 4 5; do sleep 1; kill -0 "$0" || exit; done; kill -9 "$0"';
  const guard = spawn('sh', ['-c', script, String(pid)], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  guard.on('error', () => undefined);
  guard.stdin?.on('error', () => undefined);
  guard.unref();
  (guard.stdin as unknown as { unref?(): void } | null)?.unref?.();
  return guard;
}

async function waitUntilReady(server: JavaServer, child: ChildProcess): Promise<void> {
  for (let waitedMs = 0; waitedMs < readyMsMax; waitedMs += probeMs) {
    const printed = await readFile(server.logFile, 'utf8');
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) {
      const text = `${server.name} ended while it started; it said:\n${lastLines(printed)}`;
      throw server.explainEnd?.(printed) ?? new ServiceError('internal', text);
    }
    if (await server.ready(printed)) return;
    await sleep(probeMs);
  }
  throw new ServiceError(
    'internal',
    `${server.name} was not ready after ${readyMsMax / 1000} s; see ${server.logFile}`,
  );
}

function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-15).join('\n');
}
