/** Holds series as a worker does, and reports the memory they take. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { FREE_FORECASTER, loadedBenchDetector } from '../bench-detector.ts';
import { childOptions, report, stopAsked } from '../child.ts';
import { PARTITIONS } from '../local-broker.ts';
import { seededPartition, seedOf } from '../seeded-changelog.ts';

export interface MemoryOptions {
  readonly seriesCount: number;
}

export interface HeldMemory {
  readonly rssBytes: number;
  /** Objects and buffers that are in use: without the gaps between them. */
  readonly liveBytes: number;
  /** Of one series in the slabs. */
  readonly ringBytes: number;
}

const DETECTION_SIZE = 24;
const { seriesCount } = childOptions<MemoryOptions>();
const stopping = stopAsked();
const seed = { ...seedOf(seriesCount, DETECTION_SIZE, true), steps: 2 * DETECTION_SIZE + 2 };
const loaded = loadedBenchDetector(seed, FREE_FORECASTER);
const held = [];
for (let partition = 0; partition < PARTITIONS; partition++) {
  const seeded = seededPartition(partition, seed, loaded);
  for await (const _ of seeded.commits);
  held.push(seeded);
}
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: object) => void;
// What batches left behind is given back to the system too: how much that is depends on the load, not on the series.
collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
await new Promise((resolve) => setTimeout(resolve, 500));
const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
const { blockBytes } = loaded.layout;
report({ rssBytes: rss, liveBytes: heapUsed + arrayBuffers, ringBytes: blockBytes } satisfies HeldMemory);
await stopping;
// Until here nothing of it may be given back.
if (held.length !== PARTITIONS) throw new Error('a partition is missing');
process.disconnect();
