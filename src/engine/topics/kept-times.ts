import type { OutputSettings, Topics } from '../../config/config.ts';
import { asAdmin } from '../../kafka/admin/admin-client.ts';
import type { KafkaConnection } from '../../kafka/cluster/connection.ts';
import { TOPIC_RESOURCE } from '../../kafka/cluster/kafkajs.ts';
import { ServiceError } from '../../ops/service-error.ts';

const DAY_MS = 86_400_000;

/** A topic that deletes scores by the times of their observations. */
export interface KeptTimes {
  readonly topic: string;
  readonly keptMs: number;
}

/** The topic of scores or events with the shorter retention; null if neither deletes by event time. */
export async function keptTimes(
  connection: KafkaConnection,
  { topics, output }: { readonly topics: Topics; readonly output: OutputSettings },
): Promise<KeptTimes | null> {
  if (output.timestamps === 'processing-time') return null;
  try {
    return await asAdmin(connection, 'reading the retention of topics', async (admin) => {
      const configNames = ['cleanup.policy', 'retention.ms', 'message.timestamp.type'];
      const names = [...new Set([topics.scores, topics.events])];
      const { resources } = await admin.describeConfigs({
        resources: names.map((name) => ({ type: TOPIC_RESOURCE, name, configNames })),
        includeSynonyms: false,
      });
      const found = resources.flatMap(({ resourceName: topic, configEntries }): KeptTimes[] => {
        const settings = new Map(configEntries.map(({ configName, configValue }) => [configName, configValue]));
        const deletes = settings.get('cleanup.policy')?.includes('delete') ?? false;
        const keptMs = Number(settings.get('retention.ms') ?? -1);
        return deletes && keptMs >= 0 && settings.get('message.timestamp.type') === 'CreateTime'
          ? [{ topic, keptMs }]
          : [];
      });
      return found.reduce<KeptTimes | null>((least, one) => (least && least.keptMs <= one.keptMs ? least : one), null);
    });
  } catch (error) {
    // The user may not read it: then nothing is known.
    if (error instanceof ServiceError) return null;
    throw error;
  }
}

/** Explains what happens to scores of older values, with both remedies. */
export function keptTimesText({ topic, keptMs }: KeptTimes): string {
  const days = Number((keptMs / DAY_MS).toPrecision(2));
  return (
    `Kafka deletes the scores of values older than the ${days} days that ${topic} keeps, within minutes: raise ` +
    `retention.ms of ${topic}, or set "timestamps: processing-time" under "output"`
  );
}
