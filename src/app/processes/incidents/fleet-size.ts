import { asAdmin } from '../../../kafka/admin/admin-client.ts';
import type { KafkaConnection } from '../../../kafka/cluster/connection.ts';
import { readTail } from '../../../kafka/fetch/topic-tail.ts';

/** Partitions whose newest score is read. */
const TAILS_READ = 8;

/**
 * Returns how many scores a fleet gets in a millisecond of its newest `spanMs`, by the offsets of their topic; null
 * for an empty topic. Throws a ServiceError.
 */
export async function scoresPerMs(connection: KafkaConnection, topic: string, spanMs: number): Promise<number | null> {
  const doing = `counting the scores of ${topic}`;
  const ends = await asAdmin(connection, doing, (admin) => admin.fetchTopicOffsets(topic));
  // The longest ones: the keys of any single partition may be gone.
  const longest = ends.toSorted((one, other) => Number(other.high) - Number(one.high)).slice(0, TAILS_READ);
  const tails = await Promise.all(
    longest.map(({ partition }) => readTail(connection, { topic, partition, recordsMax: 1 })),
  );
  const newestMs = Math.max(...tails.flat().map(({ timestampMs }) => timestampMs));
  if (!Number.isFinite(newestMs)) return null;
  const sinceMs = newestMs - spanMs + 1;
  const begins = await asAdmin(connection, doing, (admin) => admin.fetchTopicOffsetsByTimestamp(topic, sinceMs));
  const beginOf = new Map(begins.map((begin) => [begin.partition, Number(begin.offset)]));
  const scores = ends.reduce((sum, end) => sum + Math.max(0, Number(end.high) - beginOf.get(end.partition)!), 0);
  return scores / spanMs;
}
