import { connectRegistry } from '../../../codecs/formats/registry.ts';
import { createScoreDecoder } from '../../../codecs/score-decoder.ts';
import type { KafkaConfig } from '../../../config/config.ts';
import type { RemoteWriteConfig } from '../../../config/connections.ts';
import type { LoadedConfig } from '../../../config/load.ts';
import { createKafkaLog } from '../../../engine/log/kafka-log.ts';
import type { InputRecord } from '../../../engine/log/log.ts';
import { readTopicEnds } from '../../../kafka/admin/consumer-group.ts';
import type { Logger } from '../../../ops/logger.ts';
import type { Metrics } from '../../../ops/metrics.ts';
import { RemoteWriter } from '../../../pipelines/remote-write/remote-writer.ts';
import { LabelOwners } from '../../../pipelines/remote-write/score-labels.ts';
import { seriesPattern } from '../../../records/series/series-pattern.ts';
import { loggedConnection } from '../logged-connection.ts';
import { readEach } from '../topic-reading.ts';
import { BandPartition, BandPartitions } from './band-partition.ts';
import { BandReports } from './band-reports.ts';

interface RemoteWriteOptions {
  readonly config: LoadedConfig & { readonly kafka: KafkaConfig; readonly remoteWrite: RemoteWriteConfig };
  readonly from: 'earliest' | 'latest';
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** Writes the value bands of the partitions that the group assigns to this process. Throws a ServiceError. */
export async function runRemoteWrite(options: RemoteWriteOptions) {
  const { config, from, metrics, logger } = options;
  const { kafka, remoteWrite, stream, worker } = config;
  const { scores: topic } = stream.topics;
  const connection = loggedConnection(kafka, logger);
  const topics = { observations: topic, scores: topic, events: topic, changelog: topic, deadLetters: topic };
  // Bands are written up to the committed offsets of this group.
  const groupId = `${stream.groupId}-remote-write`;
  const log = createKafkaLog({ ...connection, topics, groupId, sessionMs: worker.sessionMs });
  const registry = config.registry === null ? null : await connectRegistry(config.registry);
  const { promise: finished, resolve: finish } = Promise.withResolvers<Error | null>();
  const reports = new BandReports(metrics, logger);
  const decode = createScoreDecoder(stream.output.format, registry);
  const isWritten = seriesPattern([remoteWrite.series]);
  const scoresOf = async (records: readonly InputRecord[]) => {
    const scores = await readEach(records, decode, (record, reason) => reports.unreadable(record, reason));
    return scores.filter(({ series }) => isWritten.test(series));
  };
  const endOf = async (partition: number) => {
    const ends = (await readTopicEnds(connection, [topic])).get(topic);
    return ends?.find((each) => each.partition === partition)?.endOffset ?? 0;
  };
  const owners = new LabelOwners();
  const partitions = new BandPartitions({
    open: (partition) => {
      const writerReports = reports.ofWriter(partition);
      return new BandPartition({
        partition,
        subscription,
        openSession: (signal) => log.openPartition(partition, signal),
        firstOffset: (session) => (from === 'earliest' ? session.oldestOffset() : endOf(partition)),
        writer: new RemoteWriter({ config: remoteWrite, reports: writerReports, random: Math.random, nowMs: Date.now }),
        owners,
        shadowed: (samples) => reports.shadowed(samples),
        scoresOf,
      });
    },
    stalled: (partition, reason) => reports.stalled(partition, reason),
    onFatal: finish,
  });
  const stop = async () => {
    await partitions.stop();
    await Promise.all([log.close(), registry?.close()]);
    finish(null);
  };
  let lost: Error | null = null;
  const subscription = await log
    .subscribe({
      onAssignment: (assigned) => partitions.assign(assigned),
      onRecords: (partition, records) => partitions.accept(partition, records),
      onConnection: (error) => {
        lost = error;
        metrics.brokerConnected.set(error === null ? 1 : 0);
      },
      onStalled: (partition, error) => reports.stalled(partition, error?.message ?? null),
      onFatal: finish,
    })
    .catch(async (error: unknown) => {
      await stop();
      throw error;
    });
  metrics.brokerConnected.set(1);
  const notReady = () => [...(lost === null ? [] : ['Kafka is unavailable']), ...reports.reasonsNotReady()];
  return { finished, notReady, warnings: () => reports.warnings(), stop };
}
