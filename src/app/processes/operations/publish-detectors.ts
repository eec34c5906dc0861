import type { KafkaConfig } from '../../../config/config.ts';
import { ensureSingleTopic } from '../../../engine/topics/topic-admin.ts';
import { produceRecords } from '../../../kafka/produce/bulk-producer.ts';
import type { DetectorVersion } from '../../../store/detector-versions.ts';

/** The only key of the topic: compaction keeps the newest version. */
const DETECTORS_KEY = 'detectors';

interface DetectorsTopic {
  readonly kafka: KafkaConfig;
  readonly topic: string;
  /** A topic with as many copies as this one is to have. */
  readonly like: string;
}

/** Writes a version of the detectors file where workers read it. Throws a ServiceError. */
export async function publishDetectors({ kafka, topic, like }: DetectorsTopic, next: DetectorVersion): Promise<void> {
  const connection = { config: kafka };
  await ensureSingleTopic(connection, 'state', { topic, like });
  const [key, value] = [Buffer.from(DETECTORS_KEY), Buffer.from(JSON.stringify(next))];
  await produceRecords(connection, topic, [{ partition: 0, key, value }]);
}
