import type { KafkaConnection } from '../cluster/connection.ts';
import { isCoordinatorChange } from '../cluster/coordinator.ts';
import { type Backoff, retryWithBackoff } from '../cluster/retry.ts';
import { decodeAssignment } from '../membership/group-protocol.ts';
import { asAdmin } from './admin-client.ts';

const UNTIL_COORDINATED: Backoff = { initialMs: 100, delayMsMax: 500, totalMsMax: 10_000 };

interface ConsumedPartition {
  readonly partition: number;
  /** Up to where the group has committed; null before its first commit. */
  readonly nextOffset: number | null;
  readonly endOffset: number;
  /** Client and address of the member that has the partition; null if none has. */
  readonly owner: string | null;
  /** Metadata of the committed offset; null without any. */
  readonly metadata: string | null;
}

/** Who reads a topic in a consumer group, and up to where. Throws a ServiceError. */
export function readConsumerGroup(
  connection: KafkaConnection,
  { groupId, topic }: { readonly groupId: string; readonly topic: string },
): Promise<{ readonly members: number; readonly partitions: readonly ConsumedPartition[] }> {
  return asAdmin(connection, `reading group ${groupId}`, async (admin) => {
    const read = () =>
      Promise.all([
        admin.fetchTopicOffsets(topic),
        admin.fetchOffsets({ groupId, topics: [topic] }),
        admin.describeGroups([groupId]),
      ]);
    // A fresh broker has no coordinator of the group until its topic of offsets is made.
    const coordinated = { isRetryable: isCoordinatorChange, backoff: UNTIL_COORDINATED };
    const [ends, [committed], { groups }] = await retryWithBackoff(read, coordinated);
    const members = groups[0]?.members ?? [];
    const owners = new Map<number, string>();
    for (const { clientId, clientHost, memberAssignment } of members) {
      for (const partition of decodeAssignment(memberAssignment).get(topic) ?? [])
        owners.set(partition, `${clientId} at ${clientHost.slice(1)}`);
    }
    const partitions = ends.map(({ partition, high }): ConsumedPartition => {
      const found = committed?.partitions.find((each) => each.partition === partition);
      const offset = Number(found?.offset ?? -1);
      const nextOffset = offset < 0 ? null : offset;
      const [owner, metadata] = [owners.get(partition) ?? null, found?.metadata ?? null];
      return { partition, nextOffset, endOffset: Number(high), owner, metadata };
    });
    return { members: members.length, partitions: partitions.sort((a, b) => a.partition - b.partition) };
  });
}

/** End offsets of the partitions of topics. Topics that are missing are omitted. */
export function readTopicEnds(
  connection: KafkaConnection,
  topics: readonly string[],
): Promise<ReadonlyMap<string, readonly { readonly partition: number; readonly endOffset: number }[]>> {
  return asAdmin(connection, 'reading the ends of topics', async (admin) => {
    const existing = new Set(await admin.listTopics());
    const known = topics.filter((topic) => existing.has(topic));
    const ends = await Promise.all(known.map((topic) => admin.fetchTopicOffsets(topic)));
    return new Map(
      known.map((topic, i) => [topic, ends[i].map(({ partition, high }) => ({ partition, endOffset: Number(high) }))]),
    );
  });
}
