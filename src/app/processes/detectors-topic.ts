import type { KafkaConfig } from '../../config/config.ts';
import { ensureSingleTopic } from '../../engine/topics/topic-admin.ts';
import { explainUnreached } from '../../kafka/admin/admin-client.ts';
import { readTail, type TopicRecord } from '../../kafka/fetch/topic-tail.ts';
import { produceRecords } from '../../kafka/produce/bulk-producer.ts';
import { ServiceError } from '../../ops/service-error.ts';
import type { DetectorVersion } from '../../store/detector-versions.ts';

/** A version of the detectors file that was saved, as the service publishes it. */
interface SavedDetectors {
  readonly version: number;
  readonly text: string;
}

/** Records in which the newest version is searched: other keys may follow it. */
const TAIL_RECORDS = 16;

/** The newest version in the topic; null if the topic or a version is missing. */
export async function newestSaved(kafka: KafkaConfig, topic: string): Promise<SavedDetectors | null> {
  try {
    const records = await readTail({ config: kafka }, { topic, partition: 0, recordsMax: TAIL_RECORDS });
    return records.reduce<SavedDetectors | null>((newest, record) => newer(newest, savedIn(record)), null);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.code === 'topic-mismatch') return null;
    throw explainUnreached(error, { config: kafka });
  }
}

function savedIn({ value }: TopicRecord): SavedDetectors | null {
  if (value === null) return null;
  try {
    const { version, text } = JSON.parse(value.toString()) as Partial<SavedDetectors>;
    return Number.isSafeInteger(version) && typeof text === 'string' ? { version: version!, text } : null;
  } catch {
    return null;
  }
}

function newer(a: SavedDetectors | null, b: SavedDetectors | null): SavedDetectors | null {
  return b !== null && b.version > (a?.version ?? 0) ? b : a;
}

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
