import { createEventDecoder } from '../../../codecs/event-codec.ts';
import { connectRegistry } from '../../../codecs/formats/registry.ts';
import { createIncidentEncoder } from '../../../codecs/incident-codec.ts';
import type { KafkaConfig } from '../../../config/config.ts';
import type { LoadedConfig } from '../../../config/load.ts';
import { topicNameOf } from '../../../config/topic-name.ts';
import { ensureSingleTopic } from '../../../engine/topics/topic-admin.ts';
import { IncidentRun, type IncidentRunOptions } from '../../../incidents/incident-run.ts';
import type { IncidentStateOptions } from '../../../incidents/incident-state.ts';
import { Dependencies } from '../../../incidents/membership/dependencies.ts';
import type { Logger } from '../../../ops/logger.ts';
import { collectIncidents, type Metrics } from '../../../ops/metrics.ts';
import { type SingletonService, startSingletonService } from '../../../singleton/singleton-service.ts';
import { meanStepMs } from '../../../time/frequency.ts';
import { loggedConnection } from '../logged-connection.ts';
import { createKafkaSingletonLog, openEventsFirst } from '../singleton/kafka-singleton-log.ts';

/** The step of a detector that the file does not name any more. */
const STEP_MS_DEFAULT = 60_000;

interface RunIncidentsOptions {
  readonly config: LoadedConfig & { readonly kafka: KafkaConfig };
  readonly from: 'earliest' | 'latest';
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** Name of the group whose processes make these incidents, and of the topic of its state. */
function incidentsGroup({ stream: { groupId } }: Pick<LoadedConfig, 'stream'>): string {
  return `${groupId}-incidents`;
}

/** Makes the topics where they are missing, and starts to group events. Throws a ServiceError. */
export async function runIncidents(options: RunIncidentsOptions): Promise<SingletonService<IncidentRun>> {
  const { config, from, metrics, logger } = options;
  const { kafka, stream, worker, registry: registryConfig, incidents } = config;
  const { topic: incidentsTopic, quietMs } = incidents;
  const connection = loggedConnection(kafka, logger);
  const { events: eventsTopic } = stream.topics;
  const stateTopic = topicNameOf(incidentsGroup(config));
  await ensureSingleTopic(connection, 'state', { topic: stateTopic, like: eventsTopic });
  await ensureSingleTopic(connection, 'output', { topic: incidentsTopic, like: eventsTopic });
  const registry = registryConfig === null ? null : await connectRegistry(registryConfig);
  const log = createKafkaSingletonLog({
    ...connection,
    readEvents: openEventsFirst(connection, {
      topic: eventsTopic,
      decode: createEventDecoder(stream.output.format, registry),
      from,
      logger,
      onUnreadable: (place, reason) => logger.error({ ...place, reason }, 'a record of the events topic is no event'),
    }),
    stateTopic,
    outputTopic: incidentsTopic,
    groupId: incidentsGroup(config),
    sessionMs: worker.sessionMs,
  });
  const steps = new Map(stream.detectors.map(({ name, settings }) => [name, meanStepMs(settings.freq)]));
  if (steps.size === 0) {
    logger.warn('no detectors file: each detector counts as one with a step of a minute; pass --detectors FILE');
  }
  const service = await startIncidents(options, {
    log,
    encode: await createIncidentEncoder(stream.output.format, { topic: incidentsTopic, registrar: registry }),
    stepMs: steps.size === 0 ? STEP_MS_DEFAULT : Math.min(...steps.values()),
    stepOf: (detector) => steps.get(detector) ?? STEP_MS_DEFAULT,
    quietMs,
    dependencies: new Dependencies(config.dependsOn),
  }).catch(async (error: unknown) => {
    await registry?.close();
    throw error;
  });
  metrics.brokerConnected.set(1);
  collectIncidents(metrics, () => service.run());
  return {
    ...service,
    stop: async () => {
      await service.stop();
      await registry?.close();
    },
  };
}

type Grouping = Pick<IncidentRunOptions, 'log' | 'encode' | keyof IncidentStateOptions>;

function startIncidents(
  { metrics, logger }: RunIncidentsOptions,
  grouping: Grouping,
): Promise<SingletonService<IncidentRun>> {
  return startSingletonService<IncidentRun>({
    log: grouping.log,
    start: (signal, onConnection) => {
      return IncidentRun.start(
        {
          ...grouping,
          nowMs: Date.now,
          onConnection,
          ingested: ({ type }) => metrics.incidentEvents.inc({ type }),
          written: ({ type, kind }) => metrics.incidentRevisions.inc({ type, kind }),
        },
        signal,
      );
    },
    reports: {
      active: (isActive) =>
        logger.info(isActive ? 'this process makes the incidents' : 'another process makes the incidents'),
      connection: (error) => {
        metrics.brokerConnected.set(error === null ? 1 : 0);
        if (error === null) logger.info('Kafka is back');
        else logger.warn({ err: error }, 'Kafka is away');
      },
      interrupted: (error) => logger.warn({ err: error }, 'the incidents continue from what was written'),
    },
  });
}
