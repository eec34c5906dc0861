import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export interface StartedCommand {
  readonly url: string;
  readonly pid: number | undefined;
  /** What the line says. */
  readonly fields: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** A command in a process of its own, once its log has a line with `"msg":MESSAGE`; its `url`, if it names one. */
export async function startedCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  message: string,
): Promise<StartedCommand> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  // Nothing keeps running when a bench fails.
  process.once('exit', () => child.kill());
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.includes(`"msg":"${message}"`)) continue;
    child.stdout.resume();
    const fields = JSON.parse(line) as Record<string, string>;
    return {
      url: fields.url,
      pid: child.pid,
      fields,
      async stop() {
        child.kill('SIGINT');
        await ended;
      },
    };
  }
  throw new Error(`${args.join(' ')} ended before it was ${message}`);
}
