import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { programEnvironment } from '../../fixture/program-environment.ts';

const PROGRAM = join(import.meta.dirname, '../../../src/main.ts');

export interface FaultedWorkers {
  readonly count: number;
  /** SIGKILL, or SIGTERM and an orderly end; then another one takes its place. */
  replace(at: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** Of the worker that is there now. */
  pid(at: number): number | undefined;
  freeze(at: number): void;
  thaw(at: number): void;
  stopAll(): Promise<void>;
  startAll(): void;
  /** Workers that ended by themselves after their start. One that finds no Kafka at its start ends as well. */
  readonly crashes: readonly string[];
}

export interface WorkersOptions {
  readonly count: number;
  readonly folder: string;
  readonly detectorsFile: string;
  readonly env: Readonly<Record<string, string>>;
  /** True: they are static members of their group, and one that was replaced keeps its partitions. */
  readonly isStatic?: boolean;
}

/** Workers as users run them. Their output goes to files in the folder. */
export function faultedWorkers({ count, folder, detectorsFile, env, isStatic }: WorkersOptions): FaultedWorkers {
  const children: ChildProcess[] = [];
  const wanted = new Set<ChildProcess>();
  const crashes: string[] = [];
  let started = 0;
  const start = (at: number) => {
    const logFile = join(folder, `worker-${started++}.log`);
    const log = openSync(logFile, 'w');
    const instance = isStatic ? { KAFKA_GROUP_INSTANCE_ID: `worker-${at}` } : {};
    const child = spawn(process.execPath, [PROGRAM, 'worker', '--detectors', detectorsFile], {
      cwd: folder,
      env: programEnvironment({ OPS_PORT: '0', INFERENCE_THREADS: '1', ...instance, ...env }),
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    children[at] = child;
    wanted.add(child);
    const name = `worker-${started - 1}`;
    child.once('exit', (code, signal) => {
      if (!wanted.delete(child)) return;
      const said = readFileSync(logFile, 'utf8');
      const fatal = said.split('\n').find((line) => line.includes('"level":"fatal"'));
      if (said.includes('worker started')) crashes.push(`${name} ended with ${code ?? signal}: ${fatal}`);
      start(at);
    });
  };
  const end = async (at: number, signal: 'SIGKILL' | 'SIGTERM') => {
    const child = children[at];
    wanted.delete(child);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
    await ended;
    clearTimeout(late);
  };
  const each = Array.from({ length: count }, (_, at) => at);
  return {
    count,
    crashes,
    replace: async (at, signal) => {
      await end(at, signal);
      start(at);
    },
    pid: (at) => children[at]?.pid,
    freeze: (at) => void children[at].kill('SIGSTOP'),
    thaw: (at) => void children[at].kill('SIGCONT'),
    stopAll: async () => void (await Promise.all(each.map((at) => end(at, 'SIGTERM')))),
    startAll: () => each.forEach(start),
  };
}
