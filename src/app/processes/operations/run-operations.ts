import type { ChangesPort, DetectorsPort, Operations } from '../../../api/operations/operations.ts';
import type { KafkaConfig } from '../../../config/config.ts';
import type { LoadedConfig } from '../../../config/load.ts';
import { scoredTopics } from '../../../config/rekeyed-input.ts';
import { readConsumerGroup, readTopicEnds } from '../../../kafka/admin/consumer-group.ts';
import { produceRecords } from '../../../kafka/produce/bulk-producer.ts';
import type { Logger } from '../../../ops/logger.ts';
import type { Metrics } from '../../../ops/metrics.ts';
import { ServiceError } from '../../../ops/service-error.ts';
import type { Deployment } from '../../../records/changes/deployment.ts';
import { Deployments } from '../../../records/changes/deployments.ts';
import type { DetectorVersion } from '../../../store/detector-versions.ts';
import { ChangeWriter, type FollowedChanges, followChanges } from '../changes/changes-topic.ts';
import { publishDetectors } from '../detectors-topic.ts';
import { type RunningHistory, runHistory } from '../history/run-history.ts';
import { detectorsFileText } from './describe-detectors.ts';
import { describingThreads } from './describing-threads.ts';
import { readDiagnostics } from './input-diagnostics.ts';

interface OperationsToRun {
  readonly config: LoadedConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** History and detectors of the stream, for the sidecar. */
export function runOperations({ config, logger, metrics }: OperationsToRun) {
  const history = runHistory(config, { logger, metrics });
  const { detectorsFile, detectorsTopic: topic, stream } = config;
  const detectors = {
    fileText: () => detectorsFileText(detectorsFile),
    describe: describingThreads(),
    publish: async (next: DetectorVersion) =>
      publishDetectors({ kafka: knownCluster(history.kafka()), topic, like: stream.topics.observations }, next),
  };
  const known = new Deployments(Date.now);
  const place = { topic: config.changesTopic, like: stream.topics.events };
  const writer = new ChangeWriter(place, () => knownCluster(history.kafka()));
  const changes = {
    known,
    async write(id: string, change: Deployment | null): Promise<void> {
      await writer.write(id, change);
      if (change === null) known.remove(id);
      else known.put(change, Date.now());
    },
  };
  let following: FollowedChanges | null = null;
  return {
    operations: makeOperations({ config, history, detectors, changes }),
    /** Follows the topics of a cluster from now on. */
    begin(kafka: KafkaConfig) {
      history.begin(kafka);
      following = followChanges({ kafka, topic: place.topic, changes: known, logger });
    },
    stop: async () => {
      await Promise.all([history.stop(), following?.stop(), writer.close()]);
    },
  };
}

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
      diagnostics: async () => readDiagnostics(connection(), stream),
      redrive: async (record) => produceRecords(connection(), topics.observations, [record]),
    },
  };
}

/** Throws a ServiceError before there is one. */
function knownCluster(kafka: KafkaConfig | null): KafkaConfig {
  if (kafka !== null) return kafka;
  throw new ServiceError('broker-unavailable', 'Kafka has not started yet', { retryable: true });
}
