import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Topics } from '../../src/config/config.ts';
import { cacheFolder } from '../../src/config/process-environment.ts';
import { startKafka } from '../../src/demo/local-kafka/kafka-broker.ts';
import { ensureTopics } from '../../src/engine/topics/topic-admin.ts';
import type { KafkaConnection } from '../../src/kafka/cluster/connection.ts';

/** Partitions of every topic of a bench, but for dead letters. */
export const PARTITIONS = 8;

/** A broker of the bench's own, on the same machine; it ends, with its data, when `work` does. */
export async function withBroker<T>(
  work: (connection: KafkaConnection) => Promise<T>,
  { sessionMs }: { readonly sessionMs?: number } = {},
): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tidewatch-bench-'));
  const kafka = await startKafka({ cacheDir: cacheFolder(), dataDir, ...(sessionMs && { sessionMs }) });
  try {
    return await work({ config: { brokers: kafka.brokers, clientId: 'tidewatch-bench', tls: null, sasl: null } });
  } finally {
    await kafka.kill();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Topics under a name of their own; those named in `shared` are taken over. */
export async function makeTopics(
  connection: KafkaConnection,
  name: string,
  shared: Partial<Topics> = {},
): Promise<Topics> {
  const topics = {
    observations: `observations-${name}`,
    scores: `scores-${name}`,
    events: `events-${name}`,
    changelog: `changelog-${name}`,
    deadLetters: `dead-letters-${name}`,
    ...shared,
  };
  await ensureTopics(connection, topics, { partitions: PARTITIONS, replicationFactor: 1, retentionMs: null });
  return topics;
}
