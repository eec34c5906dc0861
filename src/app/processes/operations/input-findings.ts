import type { LoadedConfig } from '../../../config/load.ts';
import { scoredTopics } from '../../../config/rekeyed-input.ts';
import { readConsumerGroup } from '../../../kafka/admin/consumer-group.ts';
import type { KafkaConnection } from '../../../kafka/cluster/connection.ts';
import { type Finding, mergeFindings } from '../../../records/diagnostics/finding.ts';
import { decodeFindings } from '../../../records/diagnostics/offset-metadata.ts';

/** Findings of the workers in their input, as they committed them. Throws a ServiceError. */
export async function readFindings(
  connection: KafkaConnection,
  stream: LoadedConfig['stream'],
): Promise<readonly Finding[]> {
  const { observations: topic } = scoredTopics(stream);
  const { partitions } = await readConsumerGroup(connection, { groupId: stream.groupId, topic });
  return mergeFindings(partitions.map(({ metadata }) => decodeFindings(metadata)));
}
