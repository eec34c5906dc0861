/** Memory of a worker by the number of series it holds, with full rings, on a model that costs nothing and without a broker. */
import type { Figures } from './bench.ts';
import { runChild } from './child.ts';
import type { HeldMemory } from './memory-process.ts';
import { type Cell, printTable, rounded } from './table.ts';

const COUNTS = [1, 1_000, 10_000, 100_000];
/** Below it the base of the process, which varies, is larger than what series take. */
const SERIES_MIN = 10_000;

export async function run(): Promise<Figures> {
  const rows: Cell[][] = [];
  const figures: Record<string, number> = {};
  let base: HeldMemory | null = null;
  for (const seriesCount of COUNTS) {
    const held = await runChild<HeldMemory>('memory-process.ts', { seriesCount });
    base ??= held;
    const bytes = (held.rssBytes - base.rssBytes) / seriesCount;
    const counted = seriesCount >= SERIES_MIN;
    rows.push([seriesCount, held.rssBytes / 2 ** 20, held.heapBytes / 2 ** 20, held.ringBytes, counted ? bytes : '']);
    figures[`rss_mb_${seriesCount}`] = rounded(held.rssBytes / 2 ** 20);
    if (counted) figures[`bytes_per_series_${seriesCount}`] = rounded(bytes);
  }
  const columns = ['series', 'rss MiB', 'heap MiB', 'ring bytes a series', 'bytes a series'];
  printTable('context 512, calibration 288, 8 partitions', columns, rows);
  const most = COUNTS.at(-1)!;
  return { bytes_per_series: figures[`bytes_per_series_${most}`], rss_mb: figures[`rss_mb_${most}`], ...figures };
}
