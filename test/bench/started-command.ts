import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export interface StartedCommand {
  readonly url: string;
  stop(): Promise<void>;
}

/** A command in a process of its own, once its log has a line with `"msg":MESSAGE`, which names its `url`. */
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
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.includes(`"msg":"${message}"`)) continue;
    child.stdout.resume();
    const { url } = JSON.parse(line) as { url: string };
    return {
      url,
      async stop() {
        child.kill('SIGINT');
        await ended;
      },
    };
  }
  throw new Error(`${args.join(' ')} ended before it was ${message}`);
}
