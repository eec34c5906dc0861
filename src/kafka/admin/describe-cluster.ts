import type { KafkaConnection } from '../cluster/connection.ts';
import { asAdmin } from './admin-client.ts';

/** The id of a cluster, which does not depend on its addresses. Throws a ServiceError. */
export async function readClusterId(connection: KafkaConnection): Promise<string> {
  const { clusterId } = await asAdmin(connection, 'describing the cluster', (admin) => admin.describeCluster());
  return clusterId;
}

/** The cluster that a command is about to write to, as people recognize it. Throws a ServiceError. */
export async function describeCluster(connection: KafkaConnection): Promise<string> {
  const { brokers, clusterId } = await asAdmin(connection, 'describing the cluster', (admin) =>
    admin.describeCluster(),
  );
  return `cluster ${clusterId} at ${brokers.map(({ host, port }) => `${host}:${port}`).join(', ')}`;
}
