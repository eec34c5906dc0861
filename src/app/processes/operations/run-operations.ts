import type { Operations } from '../../../api/operations/operations.ts';
import type { KafkaConfig, LoadedConfig } from '../../../config/config.ts';
import type { Logger } from '../../../ops/logger.ts';
import type { Metrics } from '../../../ops/metrics.ts';
import { Deployments } from '../../../records/changes/deployments.ts';
import type { Deployment } from '../../../records/deployment.ts';
import type { DetectorVersion } from '../../../store/detector-versions.ts';
import { ChangeWriter } from '../changes/change-writer.ts';
import { type FollowedChanges, followChanges } from '../changes/follow-changes.ts';
import { runHistory } from '../history/run-history.ts';
import { detectorsFileText } from './describe-detectors.ts';
import { describingThreads } from './describing-threads.ts';
import { knownCluster, makeOperations } from './make-operations.ts';
import { publishDetectors } from './publish-detectors.ts';

interface RunningOperations {
  readonly operations: Operations;
  /** Follows the topics of a cluster from now on. */
  begin(kafka: KafkaConfig): void;
  stop(): Promise<void>;
}

interface OperationsToRun {
  readonly config: LoadedConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** History and detectors of the stream, for the sidecar. */
export function runOperations({ config, logger, metrics }: OperationsToRun): RunningOperations {
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
    begin(kafka) {
      history.begin(kafka);
      following = followChanges({ kafka, topic: place.topic, changes: known, logger });
    },
    stop: async () => {
      await Promise.all([history.stop(), following?.stop(), writer.close()]);
    },
  };
}
