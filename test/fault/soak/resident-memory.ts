import { readFileSync } from 'node:fs';

const HOUR_MS = 3_600_000;
const KIB_PER_MIB = 1_024;

export interface MemoryFigures {
  /** At the end. */
  readonly rss_mb: Readonly<Record<string, number>>;
  readonly rss_slope_mb_per_h: Readonly<Record<string, number>>;
}

interface Sample {
  readonly atMs: number;
  readonly mb: number;
}

/** Resident memory of processes over time. A process that takes another's place has the samples of its own life. */
export class ResidentMemory {
  readonly #samples = new Map<string, Sample[]>();
  readonly #pids = new Map<string, number>();

  sample(name: string, pid: number | undefined, nowMs: number): void {
    const mb = pid === undefined ? null : residentMb(pid);
    if (mb === null || pid === undefined) return;
    if (this.#pids.get(name) !== pid) this.#samples.set(name, []);
    this.#pids.set(name, pid);
    this.#samples.get(name)?.push({ atMs: nowMs, mb });
  }

  figures(): MemoryFigures {
    const all = [...this.#samples];
    return {
      rss_mb: Object.fromEntries(all.map(([name, samples]) => [name, Math.round(samples.at(-1)?.mb ?? 0)])),
      rss_slope_mb_per_h: Object.fromEntries(all.map(([name, samples]) => [name, Math.round(slope(later(samples)))])),
    };
  }
}

/** What a process takes up as it starts is no growth. */
function later(samples: readonly Sample[]): readonly Sample[] {
  return samples.slice(Math.floor(samples.length / 2));
}

/** MiB an hour, by least squares. */
function slope(samples: readonly Sample[]): number {
  if (samples.length < 2) return 0;
  const mean = (of: (sample: Sample) => number) => samples.reduce((sum, one) => sum + of(one), 0) / samples.length;
  const [meanMs, meanMb] = [mean(({ atMs }) => atMs), mean(({ mb }) => mb)];
  const above = mean(({ atMs, mb }) => (atMs - meanMs) * (mb - meanMb));
  return (above / mean(({ atMs }) => (atMs - meanMs) ** 2)) * HOUR_MS;
}

function residentMb(pid: number): number | null {
  try {
    const [, kib] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kib === undefined ? null : Number(kib) / KIB_PER_MIB;
  } catch {
    return null;
  }
}
