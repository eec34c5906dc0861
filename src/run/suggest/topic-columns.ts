import type { KafkaConfig, LoadedConfig, RegistryConfig } from '../../config/config.ts';
import { readTail } from '../../kafka/fetch/topic-tail.ts';
import { connectRegistry } from '../../stream/codec/registry.ts';
import { createKafkaLog } from '../../stream/log/kafka-log.ts';
import type { SeriesColumns } from '../../suggest/series-columns.ts';
import { topicDecoder } from '../topic-decoder.ts';

/** Newest records that are read of a topic, of all partitions together. */
const TOPIC_RECORDS_MAX = 1_000_000;

interface TopicOfSuggestion {
  readonly topic: string;
  readonly kafka: KafkaConfig;
  readonly registry: RegistryConfig | null;
  readonly stream: LoadedConfig['stream'];
  readonly sessionMs: number;
}

/** Reads the newest records of a topic as the input says. `say` receives what could not be used. */
export async function addTopic(
  columns: SeriesColumns,
  { topic, kafka, registry: registryConfig, stream, sessionMs }: TopicOfSuggestion,
  say: (line: string) => void,
): Promise<void> {
  const connection = { config: kafka };
  const topics = { ...stream.topics, observations: topic };
  const log = createKafkaLog({ ...connection, topics, groupId: stream.groupId, sessionMs });
  const registry = registryConfig === null ? null : await connectRegistry(registryConfig);
  try {
    const decode = topicDecoder(stream.input, { groupSourceOf: () => null, isWatched: () => true, schemas: registry });
    const partitions = await log.partitionCount();
    const recordsMax = Math.ceil(TOPIC_RECORDS_MAX / partitions);
    let [refused, first, read] = [0, '', 0];
    for (let partition = 0; partition < partitions; partition++) {
      const records = await readTail(connection, { topic, partition, recordsMax });
      read += records.length;
      for (const { offset, decoded } of await decode(records)) {
        if (decoded.kind === 'observation') columns.add(decoded.series, decoded.timestampMs, decoded.value);
        else if (decoded.kind === 'dead-letter' && refused++ === 0)
          first = `partition ${partition} offset ${offset}: ${decoded.detail}`;
      }
      if (records.length === recordsMax)
        say(`Of partition ${partition} the newest ${recordsMax} records are looked at`);
    }
    if (refused > 0) say(`${refused} of ${read} records cannot be read, the first at ${first}`);
  } finally {
    registry?.close();
    await log.close();
  }
}
