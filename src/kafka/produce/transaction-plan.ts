import { recordBytesMax } from '../batch/record-batch-encoder.ts';
import type { OutputRecord } from '../batch/records.ts';

export interface PlannedBatch {
  readonly topic: string;
  readonly partition: number;
  readonly records: OutputRecord[];
}

/** Brokers refuse a batch above `message.max.bytes`, 1 MiB by default. A larger record gets a batch of its own. */
const BATCH_BYTES_MAX = 900_000;

/**
 * Divides the outputs into rounds that are sent one after the other. A round has at most one batch for each partition,
 * and no batch is above `bytesMax`. The order within a partition is kept.
 */
export function planRounds(outputs: readonly OutputRecord[], bytesMax = BATCH_BYTES_MAX): PlannedBatch[][] {
  const rounds: PlannedBatch[][] = [];
  const byTopic = new Map<string, Map<number, Filling>>();
  for (const record of outputs) {
    const { topic, partition } = record;
    const byPartition = byTopic.get(topic) ?? new Map<number, Filling>();
    if (byPartition.size === 0) byTopic.set(topic, byPartition);
    const bytes = recordBytesMax(record);
    let filling = byPartition.get(partition);
    if (filling === undefined || filling.bytes + bytes > bytesMax) {
      const round = filling === undefined ? 0 : filling.round + 1;
      filling = { round, bytes: 0, batch: { topic, partition, records: [] } };
      byPartition.set(partition, filling);
      if (rounds.length === round) rounds.push([]);
      rounds[round].push(filling.batch);
    }
    filling.batch.records.push(readableByKafkaJs(record));
    filling.bytes += bytes;
  }
  return rounds;
}

interface Filling {
  readonly round: number;
  bytes: number;
  readonly batch: PlannedBatch;
}

/**
 * kafkajs consumers take a record whose key is four zero bytes for an abort marker, and then deliver aborted records.
 * So such a key is written as null.
 */
function readableByKafkaJs(record: OutputRecord): OutputRecord {
  const { key } = record;
  return key?.length === 4 && key.readInt32BE(0) === 0 ? { ...record, key: null } : record;
}
