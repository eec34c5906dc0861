import { linkCluster } from '../../../src/kafka/cluster/connection.ts';
import type { BrokerCluster } from './broker-cluster.ts';

/** What workers write to besides their own topics. */
const INTERNAL = ['__consumer_offsets', '__transaction_state'];

/**
 * Whether every partition can be read and written: its leader is alive and answers, and the replicas of all brokers
 * that are not away are in sync, so that another broker may fail. Until a broker's session has timed out, the metadata
 * still name it as leader, and writes wait for its replicas.
 */
export async function canBeWritten(
  { direct: { config }, inSyncMin }: BrokerCluster,
  topics: readonly string[],
  away: ReadonlySet<number>,
): Promise<boolean> {
  const all = [...topics, ...INTERNAL];
  const brokers = config.brokers.filter((_, at) => !away.has(at + 1));
  const inSync = Math.max(inSyncMin, brokers.length);
  const link = await linkCluster({ config: { ...config, brokers } }, all).catch(() => null);
  if (link === null) return false;
  try {
    const partitions = all.flatMap((topic) => {
      return link.cluster.findTopicPartitionMetadata(topic).map((partition) => ({ topic, ...partition }));
    });
    const isSettled = partitions.every(({ leader, isr }) => {
      return leader >= 0 && isr.length >= inSync && isr.every((replica) => !away.has(replica)) && !away.has(leader);
    });
    if (!isSettled) return false;
    const asked = all.map((topic) => {
      const own = partitions.filter((partition) => partition.topic === topic);
      return {
        topic,
        partitions: own.map(({ partitionId: partition }) => ({ partition })),
        fromBeginning: false,
      };
    });
    await link.cluster.fetchTopicsOffset(asked);
    return true;
  } catch {
    return false;
  } finally {
    link.destroy();
  }
}

/** Whether a broker leads a partition of a topic that no election of preferred leaders takes from it. */
export async function isPreferredLeader(
  { direct }: Pick<BrokerCluster, 'direct'>,
  topic: string,
  id: number,
): Promise<boolean> {
  const link = await linkCluster(direct, [topic]);
  try {
    const partitions = link.cluster.findTopicPartitionMetadata(topic);
    return partitions.some(({ leader, replicas }) => leader === id && replicas[0] === id);
  } finally {
    link.destroy();
  }
}
