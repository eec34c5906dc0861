import { DeltaLog } from '../../src/checkpoint/delta-log.ts';
import { PendingCommit } from '../../src/engine/commit/pending-commit.ts';
import type { OutputRecord } from '../../src/engine/log/log.ts';
import { PartitionState } from '../../src/engine/state/partition-state.ts';
import { PARTITION_COUNT_KEY } from '../../src/engine/state/restore-partition.ts';
import type { LoadedDetector } from '../../src/engine/unit/loaded-detector.ts';
import type { KafkaConnection } from '../../src/kafka/cluster/connection.ts';
import { type BulkProducer, openBulkProducer } from '../../src/kafka/produce/bulk-producer.ts';
import { TOPICS } from '../fixture/stream/stream-run.ts';
import { type BenchSettings, FREE_FORECASTER, loadedBenchDetector } from './bench-detector.ts';
import { PARTITIONS } from './local-broker.ts';
import { partitionOf, START_MS, STEP_MS, seriesId, valueAt } from './synthetic-series.ts';

const NO_BYTES = Buffer.alloc(0);
/** As the engine at full load: then the changelog has older versions of open windows too. */
const OBSERVATIONS_PER_COMMIT = 5_000;

export interface Seed extends BenchSettings {
  readonly seriesCount: number;
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

/**
 * Writes the changelog that the engine would have written by now, to each of the topics: as it was written, or
 * `compacted` to the newest record of each key.
 */
export async function seedChangelog(
  connection: KafkaConnection,
  topics: readonly string[],
  seed: Seed,
  form: 'written' | 'compacted',
): Promise<{ records: number; bytes: number }> {
  const producers: BulkProducer[] = [];
  for (const topic of topics) producers.push(await openBulkProducer(connection, topic));
  let records = 0;
  let bytes = 0;
  const write = async (outputs: readonly OutputRecord[]) => {
    records += outputs.length;
    for (const { key, value } of outputs) bytes += (key?.length ?? 0) + (value?.length ?? 0);
    for (const producer of producers) await producer.send(outputs);
  };
  const loaded = loadedBenchDetector(seed, FREE_FORECASTER);
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const newest = new Map<string, OutputRecord>();
    for await (const outputs of seededPartition(partition, seed, loaded).commits) {
      if (form === 'written') await write(outputs);
      else keepNewest(newest, outputs);
    }
    if (newest.size > 0) await write([...newest.values()]);
  }
  for (const producer of producers) await producer.close();
  return { records, bytes };
}

/** In the order of the log: a key that is written again moves to its end. */
function keepNewest(newest: Map<string, OutputRecord>, outputs: readonly OutputRecord[]): void {
  for (const output of outputs) {
    const key = output.key!.toString();
    newest.delete(key);
    newest.set(key, output);
  }
}

/** The state of one partition, which moves on as its commits are taken: what each of them adds to the changelog. */
export function seededPartition(partition: number, seed: Seed, loaded: LoadedDetector) {
  const state = new PartitionState({ topic: 'observations', partition }, seed.seriesCount);
  const deltaLog = new DeltaLog();
  return { state, deltaLog, commits: commitsOf(partition, seed, loaded, state, deltaLog) };
}

/** Made by the engine's own writers. */
async function* commitsOf(
  partition: number,
  { seriesCount, detectionSize, steps, spread }: Seed,
  loaded: LoadedDetector,
  state: PartitionState,
  deltaLog: DeltaLog,
): AsyncGenerator<OutputRecord[]> {
  const newPending = () =>
    new PendingCommit(
      {
        place: state.place,
        topics: TOPICS,
        encodeScore: () => NO_BYTES,
        encodeEvent: () => NO_BYTES,
        timestamps: 'event-time' as const,
      },
      () => 0,
      0,
    );
  const { signal } = new AbortController();
  const members = Array.from({ length: seriesCount }, (_, series) => series)
    .filter((series) => partitionOf(series) === partition)
    .map((series, i) => ({ series, id: seriesId(series), firstStep: spread ? i % detectionSize : 0 }));
  let offset = 0;
  let pending = newPending();
  pending.state.write(PARTITION_COUNT_KEY, Buffer.from(String(PARTITIONS)));
  const observationAt = (step: number, { series, id }: (typeof members)[number]) => {
    const timestampMs = START_MS + step * STEP_MS;
    const record = { partition, offset: offset++, timestampMs, key: null, value: null };
    return { series: id, group: null, timestampMs, value: valueAt(series, step), record, loaded };
  };
  let observations: ReturnType<typeof observationAt>[] = [];
  for (let step = 0; step < steps; step++) {
    for (const [i, member] of members.entries()) {
      if (step >= member.firstStep) observations.push(observationAt(step, member));
      const isLast = step === steps - 1 && i === members.length - 1;
      if (observations.length < OBSERVATIONS_PER_COMMIT && !isLast) continue;
      await state.score(observations, pending, signal);
      yield pending.drain(deltaLog, null).filter(({ topic }) => topic === TOPICS.changelog);
      pending = newPending();
      observations = [];
    }
  }
}
