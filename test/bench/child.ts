import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A program of this folder in a process of its own, so that nothing else is in its figures. */
export interface Child<Told> {
  /** What the program tells next. Rejects when it ends instead. */
  told(): Promise<Told>;
  /** Asks it to end, and waits until it has. */
  stop(): Promise<void>;
}

export function startChild<Told>(file: string, options: unknown): Child<Told> {
  const child = fork(join(import.meta.dirname, file), [JSON.stringify(options)]);
  const queue: Told[] = [];
  let ended = false;
  let wake = () => {};
  child.on('message', (message: Told) => {
    queue.push(message);
    wake();
  });
  child.on('exit', () => {
    ended = true;
    wake();
  });
  return {
    async told() {
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

/** Runs a program that tells one thing and ends. */
export async function runChild<Told>(file: string, options: unknown): Promise<Told> {
  const child = startChild<Told>(file, options);
  const told = await child.told();
  await child.stop();
  return told;
}

/** For the program: its options. */
export function childOptions<O>(): O {
  return JSON.parse(process.argv[2]) as O;
}

/** For the program: tells its parent. */
export function tell(message: unknown): void {
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
