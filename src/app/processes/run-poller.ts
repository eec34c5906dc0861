import { setTimeout as sleep } from 'node:timers/promises';
import { compilePointRecords, type RecordsOfPoints } from '../../codecs/points/point-records.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { topicNameOf } from '../../config/topic-name.ts';
import { createKafkaLog } from '../../engine/log/kafka-log.ts';
import { type KeptTimes, keptTimes, keptTimesText } from '../../engine/topics/kept-times.ts';
import { ensureSingleTopic } from '../../engine/topics/topic-admin.ts';
import { keyPartitioner } from '../../kafka/produce/key-partition.ts';
import type { Logger } from '../../ops/logger.ts';
import type { Metrics } from '../../ops/metrics.ts';
import { Poller, type PollReports } from '../../pipelines/poll/poller.ts';
import { prometheusRanges, type QueryRange } from '../../pipelines/poll/query-range.ts';
import { loggedConnection } from './logged-connection.ts';
import { followPointWriter, type PointWriterOptions } from './point-writer.ts';

interface RunPollerOptions extends PointWriterOptions {
  readonly config: Pick<LoadedConfig, 'stream' | 'detectorsTopic' | 'sources' | 'sourceHeaders' | 'worker'>;
  readonly metrics: Metrics;
}

/**
 * Polls the sources of the detectors file into the input topic. `finished` is null after `stop`, and an error when
 * another poller took over, or Kafka refuses. Throws a ServiceError.
 */
export async function runPoller(options: RunPollerOptions) {
  const { config, kafka, metrics, logger } = options;
  const { stream, sources, sourceHeaders } = config;
  const connection = { config: kafka };
  const inputTopic = stream.topics.observations;
  const positionsTopic = `${topicNameOf(stream.groupId, 220)}-positions`;
  await ensureSingleTopic(connection, 'state', { topic: positionsTopic, like: inputTopic });
  const common = { ...connection, sessionMs: config.worker.sessionMs };
  const log = createKafkaLog({
    ...common,
    ...loggedConnection(kafka, logger),
    topics: {
      observations: positionsTopic,
      changelog: positionsTopic,
      scores: inputTopic,
      events: inputTopic,
      deadLetters: inputTopic,
    },
    groupId: `${stream.groupId}-poll`,
    spread: true,
  });
  const input = createKafkaLog({ ...common, topics: stream.topics, groupId: stream.groupId });
  const kept = await keptTimes(connection, stream);
  let recordsOf!: RecordsOfPoints;
  const unfollow = followPointWriter(options, (writer) => {
    recordsOf = compilePointRecords(writer);
  });
  const ranges = new Map(
    sources.map(({ name, url }): [string, QueryRange] => {
      return [name, prometheusRanges({ url, headers: sourceHeaders.get(name) ?? {} })];
    }),
  );
  const poller = new Poller({
    sources,
    rangesOf: ({ name }) => ranges.get(name)!,
    log,
    positionsTopic,
    inputTopic,
    partitioner: async () => keyPartitioner(await input.partitionCount()),
    recordsOf: () => recordsOf,
    nowMs: Date.now,
    wait: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined),
    reports: pollReports(metrics, logger, kept),
  });
  const stop = new AbortController();
  const finished = poller.run(stop.signal).then(
    () => null,
    (error: Error) => error,
  );
  return {
    notReady: () => poller.reasonsNotReady(),
    finished,
    async stop() {
      unfollow();
      stop.abort();
      await finished;
      await Promise.all([log.close(), input.close()]);
    },
  };
}

function pollReports(metrics: Metrics, logger: Logger, kept: KeptTimes | null): PollReports {
  const warned = new Set<string>();
  return {
    written(source, { accepted, unwatched, refused, missing, reasons }) {
      for (const [outcome, points] of Object.entries({ accepted, unwatched, refused, missing })) {
        if (points > 0) metrics.sourcePoints.inc({ source, outcome }, points);
      }
      if (refused > 0) logger.warn({ source, refused, reasons }, 'points of a source cannot be used');
    },
    behind(source, ms) {
      metrics.sourceBehindSeconds.set({ source }, ms / 1_000);
      if (kept === null || ms <= kept.keptMs || warned.has(source)) return;
      warned.add(source);
      logger.warn({ source }, keptTimesText(kept));
    },
    failed(source, detail) {
      metrics.sourceFailures.inc({ source });
      logger.warn({ source, detail }, 'a source could not be polled; it is retried');
    },
    annotated: (source, text) => logger.warn({ source, text }, 'Prometheus warns about the query of a source'),
    acceptedPartial(source, detail) {
      metrics.sourceFailures.inc({ source });
      logger.error({ source, detail }, 'the answer of a source stays partial and is used');
    },
    log(error) {
      metrics.brokerConnected.set(error === null ? 1 : 0);
      if (error !== null) logger.warn({ err: error }, 'Kafka does not accept the polled values; they are retried');
    },
  };
}
