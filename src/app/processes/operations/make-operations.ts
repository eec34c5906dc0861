import type { ChangesPort, DetectorsPort, Operations } from '../../../api/operations/operations.ts';
import type { KafkaConfig, LoadedConfig } from '../../../config/config.ts';
import { scoredTopics } from '../../../config/rekeyed-input.ts';
import { readConsumerGroup, readTopicEnds } from '../../../kafka/admin/consumer-group.ts';
import { produceRecords } from '../../../kafka/produce/bulk-producer.ts';
import { ServiceError } from '../../../ops/service-error.ts';
import type { RunningHistory } from '../history/run-history.ts';
import { readFindings } from './input-findings.ts';

interface OperationsOptions {
  readonly config: Pick<LoadedConfig, 'stream' | 'incidents' | 'history'>;
  readonly history: RunningHistory;
  readonly detectors: DetectorsPort;
  readonly changes: ChangesPort;
}

/** Connects what the sidecar knows of the stream with the history, Kafka and the detectors file. */
export function makeOperations({ config, history, detectors, changes }: OperationsOptions): Operations {
  const { stream, incidents, history: bounds } = config;
  const { topics } = stream;
  const { remote } = history;
  const sources = {
    scores: topics.scores,
    events: topics.events,
    incidents: incidents.topic,
    'dead-letters': topics.deadLetters,
  };
  const connection = () => ({ config: knownCluster(history.kafka()) });
  return {
    reader: remote.reader,
    feed: remote,
    bounds,
    topics: sources,
    idsHideLabels: (stream.input.idTemplate ?? null) !== null,
    problem: () => remote.problem,
    otherClusters: () => remote.otherClusters,
    detectors,
    changes,
    cluster: {
      async historyEnds() {
        const ends = await readTopicEnds(connection(), Object.values(sources));
        return Object.entries(sources).flatMap(([source, topic]) =>
          (ends.get(topic) ?? []).map((each) => ({ source, ...each })),
        );
      },
      async workers() {
        const { groupId } = stream;
        const { observations: topic } = scoredTopics(stream);
        const state = await readConsumerGroup(connection(), { groupId, topic });
        const partitions = state.partitions.map(({ metadata: _, ...partition }) => ({ topic, ...partition }));
        return { group: groupId, members: state.members, partitions };
      },
      // They reject before there is a cluster: a throw would leave the rejections of others unhandled.
      findings: async () => readFindings(connection(), stream),
      redrive: async (record) => produceRecords(connection(), topics.observations, [record]),
    },
  };
}

/** Throws a ServiceError before there is one. */
export function knownCluster(kafka: KafkaConfig | null): KafkaConfig {
  if (kafka !== null) return kafka;
  throw new ServiceError('broker-unavailable', 'Kafka has not started yet', { retryable: true });
}
