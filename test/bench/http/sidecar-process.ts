import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startedCommand } from '../started-command.ts';

export const API_KEY = 'the-key-of-the-benchmarks';

/** `tidewatch serve` in a process of its own, as a user starts it. */
export type Sidecar = Awaited<ReturnType<typeof startSidecar>>;

/** @param settings further variables of its environment */
export async function startSidecar(settings: Readonly<Record<string, string>> = {}) {
  const dataDir = await mkdtemp(join(tmpdir(), 'tidewatch-bench-'));
  const env = { TIDEWATCH_API_KEY: API_KEY, HTTP_PORT: '0', OPS_PORT: '0', DATA_DIR: dataDir, ...settings };
  const { url, pid, fields, stop } = await startedCommand(['serve'], env, 'serving');
  return {
    url,
    /** Sum of a metric of the ops port over its labels. */
    async metric(name: string): Promise<number> {
      const text = await (await fetch(new URL('/metrics', fields.ops))).text();
      const samples = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
      if (samples.length === 0) throw new Error(`no metric ${name}`);
      return samples.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
    },
    /** The most memory it has held so far, bytes. Rejects where there is no /proc. */
    async rssPeakBytes(): Promise<number> {
      const status = await readFile(`/proc/${pid}/status`, 'utf8');
      return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)![1]) * 1_024;
    },
    async stop(): Promise<void> {
      await stop();
      await rm(dataDir, { recursive: true });
    },
  };
}
