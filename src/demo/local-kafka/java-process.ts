import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../ops/service-error.ts';

/** A start takes 6 s of processor time, and a slow or busy machine may give it a fiftieth of a processor. */
const READY_MS_MAX = 600_000;
const PROBE_MS = 25;
/** Time to stop after SIGTERM before SIGKILL. */
const STOP_MS_MAX = 10_000;

export interface JavaProcess {
  /** Resolves when the process has ended, for any reason. */
  readonly ended: Promise<void>;
  /** SIGTERM, and SIGKILL after `msMax`, 10 s by default, or once `sooner` is aborted. */
  stop(msMax?: number, sooner?: AbortSignal): Promise<void>;
  /** SIGKILL, as in a crash. */
  kill(): Promise<void>;
  /** SIGSTOP until `thaw`: connections stay open and get no answer. */
  freeze(): void;
  thaw(): void;
}

interface JavaServer {
  readonly name: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Output of the server; truncated at each start. */
  readonly logFile: string;
  /** Called every 25 ms with the output so far, until it returns true. */
  ready(printed: string): boolean | Promise<boolean>;
  /** Ends the start. */
  readonly stop?: AbortSignal | undefined;
  /** Explains an end during the start from the output; null: the last lines of the output are shown. */
  explainEnd?(printed: string): ServiceError | null;
}

/**
 * Starts a server on the machine's Java and waits until it is ready. It runs in a process group of its own, so that a
 * Ctrl-C reaches this process first and the server is stopped last. It ends with this process, even after SIGKILL.
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

  const end = async (signal: NodeJS.Signals, msMax: number, sooner?: AbortSignal) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    child.kill(sooner?.aborted ? 'SIGKILL' : signal);
    const kill = () => child.kill('SIGKILL');
    const late = setTimeout(kill, msMax);
    sooner?.addEventListener('abort', kill, { once: true });
    await exited;
    clearTimeout(late);
    sooner?.removeEventListener('abort', kill);
  };
  const stop = (msMax = STOP_MS_MAX, sooner?: AbortSignal) => end('SIGTERM', msMax, sooner);
  const kill = () => end('SIGKILL', STOP_MS_MAX);

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
 * A shell that reads a pipe whose other end is only here. When this process ends, even by SIGKILL, the shell
 * reads the end of the pipe and stops the server, which would otherwise keep running.
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
  for (let waitedMs = 0; waitedMs < READY_MS_MAX; waitedMs += PROBE_MS) {
    const printed = await readFile(server.logFile, 'utf8');
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) {
      const lastLines = printed.trimEnd().split('\n').slice(-15).join('\n');
      const text = `${server.name} ended while it started; its output:\n${lastLines}`;
      throw server.explainEnd?.(printed) ?? new ServiceError('internal', text);
    }
    if (await server.ready(printed)) return;
    server.stop?.throwIfAborted();
    await sleep(PROBE_MS);
  }
  throw new ServiceError(
    'internal',
    `${server.name} was not ready after ${READY_MS_MAX / 1000} s; see ${server.logFile}`,
  );
}
