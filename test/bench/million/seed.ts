import { DeltaLog, type DeltaLogEntry } from '../../../src/checkpoint/delta-log.ts';
import { PendingCommit } from '../../../src/engine/commit/pending-commit.ts';
import type { OutputRecord } from '../../../src/engine/log/log.ts';
import { PartitionState } from '../../../src/engine/state/partition-state.ts';
import { PARTITION_COUNT_KEY } from '../../../src/engine/state/restore-partition.ts';
import { type LoadedDetector, phaseOf } from '../../../src/engine/unit/loaded-detector.ts';
import { ScoredSeries } from '../../../src/engine/unit/scored-series.ts';
import type { KafkaConnection } from '../../../src/kafka/cluster/connection.ts';
import { openBulkProducer } from '../../../src/kafka/produce/bulk-producer.ts';
import { loadedStream } from '../../fault/cluster/oracle.ts';
import {
  COURSES,
  detectorsOf,
  type FleetState,
  fleetValue,
  idOf,
  PARTITIONS,
  partitionOf,
  SEEDED_STEPS,
  STEP_MS,
  TOPICS,
} from './fleet.ts';

const SERIES_PER_COMMIT = 500;
const NO_BYTES = Buffer.alloc(0);

/** A series that was scored from its first value on, and its closed windows by their keys without its id. */
interface Scored {
  readonly unit: ScoredSeries;
  readonly windows: ReadonlyMap<string, Buffer>;
  readonly state: PartitionState;
}

/**
 * Writes the changelog of so many series that all began in the same minute. With the real model the engine scores one
 * series of each course of values and phase of windows; the others have the state of theirs under their own ids,
 * written by the engine.
 */
export async function seedFleet(
  connection: KafkaConnection,
  { series: count, startMs, spread }: Omit<FleetState, 'nextStep'>,
): Promise<{ readonly records: number; readonly bytes: number }> {
  const { detectors, forecasters } = await loadedStream(detectorsOf(spread));
  const [loaded] = detectors;
  const scored = new Map<string, Scored>();
  const courseOf = (series: number) => `${series % COURSES}/${phaseOf(loaded, idOf(series))}`;
  for (let series = 0; series < count; series++) {
    const course = courseOf(series);
    if (!scored.has(course)) scored.set(course, await scoreSeries(series, { loaded, startMs }));
  }
  await forecasters.close();
  const producer = await openBulkProducer(connection, TOPICS.changelog);
  let [records, bytes] = [0, 0];
  for (let partition = 0; partition < PARTITIONS; partition++) {
    for (const outputs of partitionWrites(partition, count, (series) => scored.get(courseOf(series))!)) {
      records += outputs.length;
      for (const { key, value } of outputs) bytes += (key?.length ?? 0) + (value?.length ?? 0);
      await producer.send(outputs);
    }
  }
  await producer.close();
  return { records, bytes };
}

async function scoreSeries(
  series: number,
  { loaded, startMs }: { readonly loaded: LoadedDetector; readonly startMs: number },
): Promise<Scored> {
  const id = idOf(series);
  const state = new PartitionState({ topic: TOPICS.observations, partition: 0 }, 1);
  const windows = new Map<string, Buffer>();
  const deltaLog = new DeltaLog();
  for (let step = 0; step < SEEDED_STEPS; step++) {
    const timestampMs = startMs + step * STEP_MS;
    // Offsets of a history are below those of the input.
    const record = { partition: 0, offset: step - SEEDED_STEPS - 1, timestampMs, key: null, value: null };
    const observation = { series: id, group: null, timestampMs, value: fleetValue(series, step), record, loaded };
    const pending = newPending(0);
    await state.score([observation], pending, new AbortController().signal);
    for (const { topic, key, value } of pending.drain(deltaLog, null)) {
      const name = topic === TOPICS.changelog ? key!.toString() : '';
      if (name.startsWith('w/') && value !== null) windows.set(name.slice(0, -id.length), value);
    }
  }
  const unit = state.units.get(id);
  if (!(unit instanceof ScoredSeries)) throw new Error(`${id} has no state`);
  return { unit, windows, state };
}

function* partitionWrites(
  partition: number,
  count: number,
  scoredLike: (series: number) => Scored,
): Generator<readonly OutputRecord[]> {
  const deltaLog = new DeltaLog();
  let pending = newPending(partition);
  pending.state.write(PARTITION_COUNT_KEY, Buffer.from(String(PARTITIONS)));
  let written = 0;
  for (let series = 0; series < count; series++) {
    if (partitionOf(series) !== partition) continue;
    const { unit, windows, state } = scoredLike(series);
    const key = idOf(series);
    pending.state.touched(entryOf(unit, key));
    for (const [slot, window] of windows) pending.state.write(Buffer.from(`${slot}${key}`), window);
    pending.watermark = state.watermark.state;
    if (++written % SERIES_PER_COMMIT !== 0) continue;
    yield pending.drain(deltaLog, null);
    pending = newPending(partition);
    pending.watermark = state.watermark.state;
  }
  yield pending.drain(deltaLog, null);
}

/** The state of a series under the id of another one. */
function entryOf(unit: ScoredSeries, key: string): DeltaLogEntry {
  return {
    key,
    deltaLogRecord: null,
    openStateBytes: 0,
    changeBytes: 0,
    writeChange: () => false,
    writeOpenState(writer) {
      Object.assign(unit, { key });
      unit.writeOpenState(writer);
    },
  };
}

function newPending(partition: number): PendingCommit {
  const place = { topic: TOPICS.observations, partition };
  const nothing = () => NO_BYTES;
  const format = {
    place,
    topics: TOPICS,
    encodeScore: nothing,
    encodeEvent: nothing,
    timestamps: 'event-time' as const,
  };
  return new PendingCommit(format, () => 0, 0);
}
