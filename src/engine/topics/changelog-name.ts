import type { StreamConfig, Topics } from '../../config/config.ts';
import { scoredTopics } from '../../config/rekeyed-input.ts';
import { asAdmin } from '../../kafka/admin/admin-client.ts';
import type { KafkaConnection } from '../../kafka/cluster/connection.ts';

/**
 * The topics with the records that are scored, and the changelog that the group really has. Earlier versions gave the
 * changelogs of all groups one name. It continues being used by a group that has scored already, as long as there is no
 * changelog of the group's own.
 */
export async function topicsInUse(
  connection: KafkaConnection,
  stream: Pick<StreamConfig, 'topics' | 'groupId' | 'earlierChangelog' | 'input'>,
): Promise<Topics> {
  const { groupId, earlierChangelog } = stream;
  const topics = scoredTopics(stream);
  if (earlierChangelog === null) return topics;
  return asAdmin(connection, 'looking for the changelog', async (admin) => {
    const existing = new Set(await admin.listTopics());
    const isNew = existing.has(topics.changelog) || !existing.has(earlierChangelog);
    if (isNew || !existing.has(topics.observations)) return topics;
    const [offsets] = await admin.fetchOffsets({ groupId, topics: [topics.observations] });
    const hasScored = offsets?.partitions.some(({ offset }) => Number(offset) >= 0) === true;
    return hasScored ? { ...topics, changelog: earlierChangelog } : topics;
  });
}
