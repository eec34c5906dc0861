import { asAdmin } from '../../../kafka/admin/admin-client.ts';
import { type KafkaConnection, withCluster } from '../../../kafka/cluster/connection.ts';
import { type PartitionRange, readPartition } from '../../../kafka/fetch/partition-reader.ts';
import { readTail, type TopicRecord } from '../../../kafka/fetch/topic-tail.ts';
import type { Cluster } from '../../../kafka/protocol/protocol-request.ts';

/** Partitions that are read, and the newest scores of each that are counted one by one. */
const TAILS_READ = 8;
const COUNTED = 1_000;
/** Offsets that are read to learn the time at one of them: a single record may be late. */
const READ_AT_ONCE = 16;
/** Beyond those that are counted, so large a part of a number may be wrong. */
const INACCURACY = 1 / 16;

/** Scores of the newest time whose series are read, by chance. */
const SAMPLED = 500;
const READ_SIDE_BY_SIDE = 16;

/**
 * Measures a fleet by the scores of its newest `spanMs`: how many there are in a millisecond, and ids of their series,
 * by chance or all; null for an empty topic. The broker is not asked for the offset of a time: markers of transactions
 * have the time of its clock, which is far ahead of the scores of a backlog, and it stops at the first one. Throws a
 * ServiceError.
 */
export async function measureFleet(connection: KafkaConnection, topic: string, spanMs: number) {
  const doing = `counting the scores of ${topic}`;
  const kept = (await asAdmin(connection, doing, (admin) => admin.fetchTopicOffsets(topic)))
    .map(({ partition, low, high }) => ({ partition, start: Number(low), offsets: Number(high) - Number(low) }))
    .sort((one, other) => other.offsets - one.offsets);
  const longest = kept.slice(0, TAILS_READ);
  const tails = await Promise.all(
    longest.map(({ partition }) => readTail(connection, { topic, partition, recordsMax: COUNTED })),
  );
  const sinceMs = newestOf(tails.flat()) - spanMs + 1;
  if (!Number.isFinite(sinceMs)) return null;
  const counts = await withCluster(connection, { topics: [topic], doing }, (cluster) => {
    const counting = tails.map((tail, i) => countSince(tail, sinceMs, { cluster, topic, start: longest[i].start }));
    return Promise.all(counting);
  });
  const read = sum(longest.map(({ offsets }) => offsets));
  const newest = tails.flat().filter(({ timestampMs }) => timestampMs >= sinceMs);
  const isWhole = longest.length === kept.length && newest.length === sum(counts);
  return {
    perMs: (sum(counts) * sum(kept.map(({ offsets }) => offsets))) / read / spanMs,
    sample: async (random: () => number) => {
      if (isWhole) return newest.flatMap(({ key }) => key?.toString() ?? []);
      const ranges = kept.map(({ partition, start, offsets }): PartitionRange => {
        return { topic, partition, from: start + offsets * (1 - sum(counts) / read), end: start + offsets };
      });
      return sampleKeys(connection, ranges, random);
    },
  };
}

/** Keys of records at offsets by chance, of all ranges alike. */
async function sampleKeys(
  connection: KafkaConnection,
  ranges: readonly PartitionRange[],
  random: () => number,
): Promise<readonly string[]> {
  const [{ topic }] = ranges;
  const lengthOf = ({ from, end }: PartitionRange) => end - from;
  const places = Array.from({ length: SAMPLED }, () => {
    let at = random() * sum(ranges.map(lengthOf));
    const range = ranges.find((each) => {
      at -= lengthOf(each);
      return at < 0;
    });
    return { ...(range ?? ranges[0]), from: Math.floor((range ?? ranges[0]).end + Math.min(at, -1)) };
  });
  return withCluster(connection, { topics: [topic], doing: `reading series of ${topic}` }, async (cluster) => {
    const keys: string[] = [];
    const readOn = async () => {
      for (let place = places.pop(); place !== undefined; place = places.pop()) {
        const found: string[] = [];
        const range = { ...place, end: Math.min(place.end, place.from + READ_AT_ONCE), bytesMax: 1 };
        await readPartition(cluster, range, (_, __, key) => {
          if (key !== null) found.push(key.toString());
        });
        keys.push(...found.slice(0, 1));
      }
    };
    await Promise.all(Array.from({ length: READ_SIDE_BY_SIDE }, readOn));
    return keys;
  });
}

/** Returns how many of the newest scores of a partition are as new as `sinceMs`. Their times almost ascend. */
async function countSince(
  tail: readonly TopicRecord[],
  sinceMs: number,
  { cluster, topic, start }: { readonly cluster: Cluster; readonly topic: string; readonly start: number },
): Promise<number> {
  const counted = tail.filter(({ timestampMs }) => timestampMs >= sinceMs).length;
  if (tail.length < COUNTED || newestOf(tail.slice(0, READ_AT_ONCE)) < sinceMs) return counted;
  const [{ partition, offset: first }, { offset: last }] = [tail[0], tail.at(-1)!];
  const isNew = async (from: number) => (await timeAt(cluster, { topic, partition, from, end: first })) >= sinceMs;
  return countNew({ start, first, last }, isNew);
}

/** Returns nearly how many offsets up to `last` are new, searching those from `start` to `first`. */
export async function countNew(
  { start, first, last }: { readonly start: number; readonly first: number; readonly last: number },
  isNew: (offset: number) => Promise<boolean>,
): Promise<number> {
  let [older, newer] = [Math.max(start, first - COUNTED), first];
  while (older > start && (await isNew(older))) {
    newer = older;
    older = Math.max(start, first - 4 * (first - older));
  }
  if (older === start && (await isNew(start))) return last - start + 1;
  while (newer - older > INACCURACY * (last - newer)) {
    // Offsets are larger than what bitwise operators take.
    const middle = Math.floor((older + newer) / 2);
    if (await isNew(middle)) newer = middle;
    else older = middle;
  }
  return last - newer + 1;
}

/** Newest time of some records from an offset on. Markers and aborted records have offsets, too. */
async function timeAt(cluster: Cluster, range: PartitionRange): Promise<number> {
  let newestMs = Number.NEGATIVE_INFINITY;
  for (let width = READ_AT_ONCE; !Number.isFinite(newestMs); width *= 4) {
    const end = Math.min(range.end, range.from + width);
    await readPartition(cluster, { ...range, end, bytesMax: 1 }, (_, timestampMs) => {
      newestMs = Math.max(newestMs, timestampMs);
    });
    if (end === range.end) break;
  }
  return newestMs;
}

function newestOf(records: readonly TopicRecord[]): number {
  return records.reduce((newest, { timestampMs }) => Math.max(newest, timestampMs), Number.NEGATIVE_INFINITY);
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
