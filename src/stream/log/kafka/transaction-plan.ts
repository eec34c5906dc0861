import type { OutputRecord } from '../log.ts';
import { recordBytesMax } from './record-batch-encoder.ts';

/** Records of one partition in one batch. */
export interface PlannedBatch {
  readonly topic: string;
  readonly partition: number;
  readonly records: OutputRecord[];
}

/** Brokers refuse a batch above `message.max.bytes`, 1 MiB unless set otherwise. A larger record goes alone and stands or falls by that. */
const batchBytesMax = 900_000;

/**
 * Divides the outputs into rounds to be sent one after the other: at most one batch per partition in each, no batch above
 * `bytesMax`, the order within a partition kept.
 */
export function planRounds(outputs: readonly OutputRecord[], bytesMax = batchBytesMax): PlannedBatch[][] {
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

/** The batch of a partition that is being filled. */
interface Filling {
  readonly round: number;
  bytes: number;
  readonly batch: PlannedBatch;
}

/**
 * kafkajs takes any record whose key is four zero bytes for the end of an aborted transaction and then delivers what it should hide.
 * Such a key is written as null, so that whoever reads our topics with it sees committed records only.
 */
function readableByKafkaJs(record: OutputRecord): OutputRecord {
  const { key } = record;
  return key?.length === 4 && key.readInt32BE(0) === 0 ? { ...record, key: null } : record;
}
