/**
 * Memory of a worker by the number of series it holds, with full rings, on a model that costs nothing and without a
 * broker.
 */

import type { Figures } from '../bench.ts';
import { runChild } from '../child.ts';
import { imageMalloc } from '../image-malloc.ts';
import { type Cell, printTable, rounded } from '../table.ts';
import type { HeldMemory, MemoryOptions } from './memory-process.ts';

const COUNTS = [1, 1_000, 10_000, 100_000];

export async function run(): Promise<Figures> {
  const rows: Cell[][] = [];
  const figures: Record<string, number> = {};
  let fewer: (HeldMemory & { readonly seriesCount: number }) | null = null;
  let bytesPerSeries = Number.NaN;
  let livePerSeries = Number.NaN;
  for (const seriesCount of COUNTS) {
    const options: MemoryOptions = { seriesCount };
    const held = await runChild<HeldMemory>('memory/memory-process.ts', options, imageMalloc());
    // What one more series takes, beyond a process that has done the same with fewer.
    if (fewer !== null) {
      const more = seriesCount - fewer.seriesCount;
      bytesPerSeries = (held.rssBytes - fewer.rssBytes) / more;
      livePerSeries = (held.liveBytes - fewer.liveBytes) / more;
    }
    const [rssMb, liveMb] = [held.rssBytes / 2 ** 20, held.liveBytes / 2 ** 20];
    rows.push([seriesCount, rssMb, liveMb, bytesPerSeries, livePerSeries, held.ringBytes]);
    figures[`rss_mb_${seriesCount}`] = rounded(held.rssBytes / 2 ** 20);
    fewer = { ...held, seriesCount };
  }
  const columns = [
    'series',
    'rss MiB',
    'live MiB',
    'rss bytes of one more',
    'live bytes of one more',
    'of it in rings',
  ];
  printTable('context 512, calibration 288, 8 partitions', columns, rows);
  return {
    bytes_per_series: rounded(bytesPerSeries),
    live_bytes_per_series: rounded(livePerSeries),
    rss_mb: figures[`rss_mb_${COUNTS.at(-1)}`],
    ...figures,
  };
}
