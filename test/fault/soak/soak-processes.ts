/** The processes of an installation beside its workers, each with its log in a file. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../fixture/until.ts';

const PROGRAM = join(import.meta.dirname, '../../../src/main.ts');

export interface SoakProcess {
  readonly name: string;
  readonly pid: number | undefined;
  /** How it ended by itself; null while it runs. */
  readonly crash: () => string | null;
  stop(): Promise<void>;
}

/** @param args begin with the command, which is its name; resolves when its log has `ready` */
export async function startProcess(
  args: readonly string[],
  {
    folder,
    env,
    ready,
  }: { readonly folder: string; readonly env: Readonly<Record<string, string>>; readonly ready: string },
): Promise<SoakProcess> {
  const [name] = args;
  const logFile = join(folder, `${name}.log`);
  const log = openSync(logFile, 'w');
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, OPS_PORT: '0', INFERENCE_THREADS: '1', DATA_DIR: join(folder, name), ...env },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  let stopping = false;
  const ended = once(child, 'exit');
  const crash = () => {
    if (stopping || (child.exitCode === null && child.signalCode === null)) return null;
    return `${name} ended with ${child.exitCode ?? child.signalCode}: ${readFileSync(logFile, 'utf8').slice(-2_000)}`;
  };
  await until(`${name} says: ${ready}`, () => {
    const failure = crash();
    if (failure !== null) throw new Error(failure);
    return readFileSync(logFile, 'utf8').includes(`"msg":"${ready}"`);
  });
  return {
    name,
    pid: child.pid,
    crash,
    async stop() {
      stopping = true;
      child.kill('SIGTERM');
      await ended;
    },
  };
}
