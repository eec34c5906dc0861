/** What more series and more partitions cost the engine, without a broker, on a model that costs nothing. */
import type { Figures } from './bench.ts';
import { runChild } from './child.ts';
import type { Growth, GrowthOptions } from './growth-process.ts';
import { type Cell, printTable, rounded } from './table.ts';

const SERIES = [1_000, 10_000, 100_000];
const PARTITIONS = [1, 10, 100, 1_000];

export async function run(): Promise<Figures> {
  const rows: Cell[][] = [];
  const figures: Record<string, number> = {};
  for (const seriesCount of SERIES) {
    for (const partitions of PARTITIONS) {
      const options: GrowthOptions = { seriesCount, partitions };
      const grown = await runChild<Growth>('growth-process.ts', options);
      const bytes = grown.liveBytes / seriesCount;
      const stateBytes = grown.stateBytes / seriesCount;
      const { observationMicros, changelogBytes, scoreBytes, restoreSeconds } = grown;
      const restore = (1e6 * restoreSeconds) / seriesCount;
      rows.push([seriesCount, partitions, bytes, observationMicros, changelogBytes, scoreBytes, restore, stateBytes]);
      const name = `${seriesCount}_${partitions}`;
      figures[`bytes_${name}`] = rounded(bytes);
      figures[`us_${name}`] = rounded(observationMicros);
      figures[`restore_us_${name}`] = rounded(restore);
      figures[`changelog_bytes_${name}`] = rounded(changelogBytes);
      figures[`score_bytes_${name}`] = rounded(scoreBytes);
      figures[`state_bytes_${name}`] = rounded(stateBytes);
    }
  }
  const columns = [
    'series',
    'partitions',
    'live bytes a series',
    'us an observation',
    'changelog bytes of it',
    'score bytes of it',
    'restore, us a series',
    'compacted bytes a series',
  ];
  printTable('context 512, calibration 288, h 24, alarms on; processor time', columns, rows);
  return figures;
}
