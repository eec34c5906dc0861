import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A program of this folder in a process of its own, so that nothing else is in its figures. */
export interface Child<Report> {
  /** What the program reports next. Rejects when it ends instead. */
  next(): Promise<Report>;
  /** Asks it to end, and waits until it has. */
  stop(): Promise<void>;
}

/** @param env variables besides those of this process */
export function startChild<Report>(file: string, options: unknown, env: NodeJS.ProcessEnv = {}): Child<Report> {
  const child = fork(join(import.meta.dirname, file), [JSON.stringify(options)], { env: { ...process.env, ...env } });
  const queue: Report[] = [];
  let ended = false;
  let wake = () => {};
  child.on('message', (message: Report) => {
    queue.push(message);
    wake();
  });
  child.on('exit', () => {
    ended = true;
    wake();
  });
  return {
    async next() {
      while (queue.length === 0) {
        if (ended) throw new Error(`${file} ended by itself`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return queue.shift()!;
    },
    stop: () => stop(child),
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  if (child.connected) child.send('stop');
  await exit;
}

/** Runs a program that reports once and ends. */
export async function runChild<Report>(file: string, options: unknown, env?: NodeJS.ProcessEnv): Promise<Report> {
  const child = startChild<Report>(file, options, env);
  const report = await child.next();
  await child.stop();
  return report;
}

/** For the program: its options. */
export function childOptions<O>(): O {
  return JSON.parse(process.argv[2]) as O;
}

/** For the program: reports to its parent. */
export function report(message: unknown): void {
  process.send!(message);
}

/** For the program: resolves when the parent asks it to end. */
export function stopAsked(): Promise<void> {
  return new Promise((resolve) => {
    process.on('message', (message) => {
      if (message === 'stop') resolve();
    });
    process.on('disconnect', resolve);
  });
}
