import { Journal } from '../../src/stream/changelog/journal.ts';
import { PARTITION_COUNT_KEY } from '../../src/stream/changelog/restore.ts';
import type { KafkaConnection } from '../../src/stream/kafka/connection.ts';
import { type Feed, openFeed } from '../../src/stream/kafka/feed.ts';
import type { OutputRecord } from '../../src/stream/log.ts';
import { PartitionState } from '../../src/stream/partition-state.ts';
import { PendingCommit } from '../../src/stream/pending-commit.ts';
import type { WatchedDetector } from '../../src/stream/watched-detector.ts';
import { PARTITIONS } from './local-broker.ts';
import { partitionOf, START_MS, STEP_MS, seriesId, valueAt } from './synthetic-series.ts';
import { benchWatched, FREE_FORECASTER } from './watched-series.ts';

const NO_BYTES = Buffer.alloc(0);
/** Steps between two commits: the changelog then holds older versions of open windows too, as a real one does. */
const STEPS_PER_COMMIT = 8;

export interface Seed {
  readonly seriesCount: number;
  readonly detectionSize: number;
  /** Steps that lie behind every series; the next observation is that of this step. */
  readonly steps: number;
  /** Whether series began at different steps, so that their windows do not all close at once. */
  readonly spread: boolean;
}

/** Full rings and one window more; later beginners included. */
export function seedOf(seriesCount: number, detectionSize: number, spread: boolean): Seed {
  const windows = Math.max(Math.ceil(512 / detectionSize), 8) + 2;
  return { seriesCount, detectionSize, steps: windows * detectionSize, spread };
}

/** Writes the changelog that the engine would have written by now, to each of the topics. Returns its size in bytes. */
export async function seedChangelog(
  connection: KafkaConnection,
  topics: readonly string[],
  seed: Seed,
): Promise<{ records: number; bytes: number }> {
  const feeds: Feed[] = [];
  for (const topic of topics) feeds.push(await openFeed(connection, topic));
  let records = 0;
  let bytes = 0;
  const watched = benchWatched(seed.detectionSize, FREE_FORECASTER);
  for (let partition = 0; partition < PARTITIONS; partition++) {
    for await (const outputs of seededPartition(partition, seed, watched).commits) {
      records += outputs.length;
      for (const { key, value } of outputs) bytes += (key?.length ?? 0) + (value?.length ?? 0);
      for (const feed of feeds) await feed.send(outputs);
    }
  }
  for (const feed of feeds) await feed.close();
  return { records, bytes };
}

/** The state of one partition, which moves on as its commits are taken: what each of them adds to the changelog. */
export function seededPartition(partition: number, seed: Seed, watched: WatchedDetector) {
  const state = new PartitionState({ topic: 'observations', partition }, seed.seriesCount);
  const journal = new Journal();
  return { state, journal, commits: commitsOf(partition, seed, watched, state, journal) };
}

/** Made by the engine's own writers. */
async function* commitsOf(
  partition: number,
  { seriesCount, detectionSize, steps, spread }: Seed,
  watched: WatchedDetector,
  state: PartitionState,
  journal: Journal,
): AsyncGenerator<OutputRecord[]> {
  const topics = { observations: 'observations', scores: 'scores', changelog: 'changelog', deadLetters: 'letters' };
  const newPending = () => new PendingCommit({ place: state.place, topics, encodeScore: () => NO_BYTES }, () => 0);
  const { signal } = new AbortController();
  const members = Array.from({ length: seriesCount }, (_, series) => series)
    .filter((series) => partitionOf(series) === partition)
    .map((series, i) => ({ series, id: seriesId(series), firstStep: spread ? i % detectionSize : 0 }));
  let offset = 0;
  let pending = newPending();
  pending.writeState(PARTITION_COUNT_KEY, Buffer.from(String(PARTITIONS)));
  for (let step = 0; step < steps; step++) {
    const timestampMs = START_MS + step * STEP_MS;
    const arrivals = members
      .filter(({ firstStep }) => step >= firstStep)
      .map(({ series, id }) => {
        const record = { partition, offset: offset++, timestampMs, key: null, value: null };
        return { series: id, group: null, timestampMs, value: valueAt(series, step), record, watched };
      });
    await state.score(arrivals, pending, signal);
    if ((step + 1) % STEPS_PER_COMMIT === 0 || step === steps - 1) {
      yield pending.outputs(journal).filter(({ topic }) => topic === topics.changelog);
      pending = newPending();
    }
  }
}
