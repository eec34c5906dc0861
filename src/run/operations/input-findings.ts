import type { LoadedConfig } from '../../config/config.ts';
import { scoredTopics } from '../../config/rekeyed-input.ts';
import { type Finding, mergeFindings } from '../../finding/finding.ts';
import { decodeFindings } from '../../finding/offset-metadata.ts';
import { readConsumerGroup } from '../../kafka/admin/consumer-group.ts';
import type { KafkaConnection } from '../../kafka/cluster/connection.ts';

/** What the workers found in their input, as they committed it. Throws a ServiceError. */
export async function readFindings(
  connection: KafkaConnection,
  stream: LoadedConfig['stream'],
): Promise<readonly Finding[]> {
  const { observations: topic } = scoredTopics(stream);
  const { partitions } = await readConsumerGroup(connection, { groupId: stream.groupId, topic });
  return mergeFindings(partitions.map(({ metadata }) => decodeFindings(metadata)));
}
