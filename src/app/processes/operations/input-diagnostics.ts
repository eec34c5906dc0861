import type { LoadedConfig } from '../../../config/load.ts';
import { scoredTopics } from '../../../config/rekeyed-input.ts';
import { readConsumerGroup } from '../../../kafka/admin/consumer-group.ts';
import type { KafkaConnection } from '../../../kafka/cluster/connection.ts';
import { type Diagnostic, mergeDiagnostics } from '../../../records/diagnostics/diagnostic.ts';
import { decodeDiagnostics } from '../../../records/diagnostics/offset-metadata.ts';

/** Diagnostics of the workers in their input, as they committed them. Throws a ServiceError. */
export async function readDiagnostics(
  connection: KafkaConnection,
  stream: LoadedConfig['stream'],
): Promise<readonly Diagnostic[]> {
  const { observations: topic } = scoredTopics(stream);
  const { partitions } = await readConsumerGroup(connection, { groupId: stream.groupId, topic });
  return mergeDiagnostics(partitions.map(({ metadata }) => decodeDiagnostics(metadata)));
}
