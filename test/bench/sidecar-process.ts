import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export const API_KEY = 'the-key-of-the-benchmarks';
const MAIN = join(import.meta.dirname, '../../src/main.ts');

/** `tidewatch serve` in a process of its own, as a user starts it. */
export interface Sidecar {
  readonly url: string;
  /** Sum of a metric of the ops port over its labels. */
  metric(name: string): Promise<number>;
  /** The most memory it has held so far, bytes. Rejects where there is no /proc. */
  rssPeakBytes(): Promise<number>;
  stop(): Promise<void>;
}

/** @param settings further variables of its environment */
export async function startSidecar(settings: Readonly<Record<string, string>> = {}): Promise<Sidecar> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tidewatch-bench-'));
  const env = { TIDEWATCH_API_KEY: API_KEY, HTTP_PORT: '0', OPS_PORT: '0', DATA_DIR: dataDir, ...settings };
  const child = spawn(process.execPath, [MAIN, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  // Nothing keeps running when a bench fails.
  process.once('exit', () => child.kill());
  const lines = createInterface({ input: child.stdout });
  const serving = Promise.withResolvers<{ readonly url: string; readonly ops: string }>();
  lines.on('line', (line) => {
    const entry: { readonly msg?: string; readonly url: string; readonly ops: string } = JSON.parse(line);
    if (entry.msg === 'serving') serving.resolve(entry);
  });
  child.on('exit', (code) => serving.reject(new Error(`serve ended by itself, with ${code}`)));
  const { url, ops } = await serving.promise;
  return {
    url,
    async metric(name) {
      const text = await (await fetch(new URL('/metrics', ops))).text();
      const samples = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
      if (samples.length === 0) throw new Error(`no metric ${name}`);
      return samples.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
    },
    async rssPeakBytes() {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
      return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)![1]) * 1_024;
    },
    async stop() {
      child.kill('SIGTERM');
      await exit;
      await rm(dataDir, { recursive: true });
    },
  };
}
