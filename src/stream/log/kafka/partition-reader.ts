import { type FetchedPartition, type FetchLimits, fetchTopic } from './fetch.ts';
import { type Cluster, errorFromCode } from './kafkajs-internals.ts';
import { leaderOf, throughElections } from './leader.ts';
import { decodeRecords, endOffset, type RecordSink } from './record-batch-decoder.ts';

const limits: FetchLimits = { waitMsMax: 200, partitionBytesMax: 8 * 1024 * 1024, responseBytesMax: 8 * 1024 * 1024 };
/** Empty answers below the end, one after the other, until we believe that nothing is left there: compaction removed the tail. */
const emptyAnswersMax = 3;

/** First offset of a partition, and the end of what is committed for good: no open transaction lies before `end`. */
export async function stableRange(
  cluster: Cluster,
  topic: string,
  partition: number,
): Promise<{ readonly start: number; readonly end: number }> {
  const read = async (fromBeginning: boolean) => {
    const [found] = await throughElections(cluster, () =>
      cluster.fetchTopicsOffset([{ topic, partitions: [{ partition }], fromBeginning }]),
    );
    return Number(found?.partitions[0]?.offset);
  };
  return { start: await read(true), end: await read(false) };
}

/** A leader just elected may not know for a moment what is committed: its empty answer does not mean that nothing is there. */
function lagging(topic: string, partition: number): Error {
  const text = `The leader of partition ${partition} of topic ${topic} has not caught up`;
  return Object.assign(new Error(text), { type: 'OFFSET_NOT_AVAILABLE', retriable: true });
}

/**
 * Reads the committed records of a partition in [from, end) without a group. The next fetch is under way while the last one is
 * decoded. Keys and values are views of fetched bytes. Throws kafkajs's errors.
 */
export async function readPartition(
  cluster: Cluster,
  topic: string,
  partition: number,
  range: { readonly from: number; readonly end: number },
  sink: RecordSink,
): Promise<void> {
  const fetchAt = async (offset: number): Promise<FetchedPartition | null> => {
    const broker = await cluster.findBroker({ nodeId: leaderOf(cluster, topic, partition) });
    const { partitions, throttledMs } = await fetchTopic(broker, topic, [{ partition, offset }], limits);
    const fetched = partitions.find((one) => one.partition === partition);
    if (fetched !== undefined && fetched.errorCode !== 0) throw errorFromCode(fetched.errorCode);
    if (fetched?.records.length === 0 && fetched.lastStableOffset < range.end) throw lagging(topic, partition);
    return throttledMs > 0 && !fetched?.records.length ? null : (fetched ?? null);
  };
  const stopAtEnd: RecordSink = (offset, timestampMs, key, value, headers) => {
    if (offset < range.end) sink(offset, timestampMs, key, value, headers);
  };
  let empty = 0;
  let position = range.from;
  const fetchNext = () => (position < range.end ? throughElections(cluster, () => fetchAt(position)) : null);
  let coming = fetchNext();
  while (coming !== null) {
    const fetched: FetchedPartition | null = await coming;
    const next = fetched === null ? null : endOffset(fetched.records);
    if (fetched !== null && next === null && ++empty === emptyAnswersMax) return;
    if (next !== null) empty = 0;
    const from = position;
    position = next ?? position;
    coming = fetchNext();
    // It is awaited in the next turn; should decoding throw before, its failure is of no interest.
    coming?.catch(() => undefined);
    if (fetched !== null) decodeRecords(fetched.records, from, fetched.aborted, stopAtEnd);
  }
}
