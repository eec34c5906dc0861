import type { SkippedRange } from '../batch/records.ts';
import { isLedElsewhere, leaderEpochOf, topicIdOf } from '../cluster/leader.ts';
import type { Cluster } from '../protocol/protocol-request.ts';
import { LeaderEpochs } from './leader-epochs.ts';
import { findTruncation, isRecreated, locatePosition } from './out-of-range.ts';
import { stableRange } from './partition-reader.ts';

/** Position of a tail: the offset of the next record of each partition, of a topic with this id (null: not known). */
export interface TailPlace {
  readonly topicId: string | null;
  readonly positions: ReadonlyMap<number, number>;
}

export interface MovingPlace {
  topicId: string | null;
  readonly positions: Map<number, number>;
  /** Epochs of the records that were read. A stored place has none. */
  readonly epochs: LeaderEpochs;
  /** By partition, the epoch of the leader whose log was found to hold the position. */
  readonly checked: Map<number, number>;
}

export function placeNow({ topicId, positions }: MovingPlace): TailPlace {
  return { topicId, positions: new Map(positions) };
}

export async function startPlace(
  cluster: Cluster,
  topic: string,
  from: 'earliest' | 'latest' | TailPlace,
): Promise<MovingPlace> {
  const topicId = topicIdOf(cluster, topic);
  const positions = new Map<number, number>();
  const isStored = typeof from === 'object' && (from.topicId === null || topicId === null || from.topicId === topicId);
  for (const { partitionId } of cluster.findTopicPartitionMetadata(topic)) {
    const stored = isStored ? from.positions.get(partitionId) : undefined;
    const { start, end } = await stableRange(cluster, topic, partitionId);
    positions.set(partitionId, stored ?? (from === 'latest' ? end : start));
  }
  return { topicId, positions, epochs: new LeaderEpochs(), checked: new Map() };
}

const NOBODY = -1;

/**
 * Goes back to where the log of a new leader departs from what was read (KIP-320): after an unclean election it may
 * have other records at offsets before the position. Returns what was read and is lost.
 */
export async function truncate(
  cluster: Cluster,
  topic: string,
  place: MovingPlace,
): Promise<readonly (SkippedRange & { readonly partition: number })[]> {
  const { positions, epochs, checked, topicId } = place;
  if (isRecreated(cluster, { topic, topicId })) return [];
  const checks = [...positions].map(async ([partition, offset]) => {
    const leaderEpoch = leaderEpochOf(cluster, topic, partition);
    const epoch = epochs.before(partition, offset);
    const isKnown = epoch < 0 || leaderEpoch < 0 || epoch === leaderEpoch || checked.get(partition) === leaderEpoch;
    if (isKnown || !isLedElsewhere(cluster, { topic, partition, nodeId: NOBODY })) return [];
    const question = { topic, partition, leaderEpoch, epoch };
    const found = await findTruncation(cluster, question, { offset, topicId });
    checked.set(partition, leaderEpoch);
    if (found === null) return [];
    positions.set(partition, found.offset);
    epochs.truncate(partition, found.offset);
    return [{ partition, ...found.skipped }];
  });
  return (await Promise.all(checks)).flat();
}

/** Retention deleted the position, or the topic was created again: continues with the oldest record. */
export async function locate(cluster: Cluster, topic: string, place: MovingPlace, partition: number): Promise<void> {
  const { topicId, positions } = place;
  const found = await locatePosition(cluster, { topic, partition, offset: positions.get(partition) ?? 0, topicId });
  if (found === null) return;
  if (found.topicId !== topicId) await beginAnew(cluster, topic, place);
  else positions.set(partition, found.offset);
}

/** The topic was created again: the positions of all partitions are of the old one. */
export async function beginAnew(cluster: Cluster, topic: string, place: MovingPlace): Promise<void> {
  const { topicId, positions } = await startPlace(cluster, topic, 'earliest');
  place.topicId = topicId;
  place.epochs.keepOnly(new Set());
  place.checked.clear();
  for (const [partition, offset] of positions) place.positions.set(partition, offset);
}
