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
import { beginningMs } from '../../../incidents/membership/fleet-past.ts';
import { NewFleet } from '../../../incidents/membership/new-fleet.ts';
import type { Logger } from '../../../ops/logger.ts';
import { collectIncidents, type Metrics } from '../../../ops/metrics.ts';
import { type SingletonService, startSingletonService } from '../../../singleton/singleton-service.ts';
import { meanStepMs } from '../../../time/frequency.ts';
import { loggedConnection } from '../logged-connection.ts';
import { createKafkaSingletonLog, openEventsFirst } from '../singleton/kafka-singleton-log.ts';
import { measureFleet } from './fleet-size.ts';

/** The step of a detector that the file does not name any more, and its target of one false alarm a week. */
const STEP_MS_DEFAULT = 60_000;
const ALARM_RATE_DEFAULT = 1 / 10_080;
/** The size of the fleet is measured so often. */
const MEASURE_MS = 60_000;
/** Series of a fleet are sampled again if its size differs by more than this factor. */
const SIMILAR_SIZE = 1.25;

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
  const stepMs = steps.size === 0 ? STEP_MS_DEFAULT : Math.min(...steps.values());
  const size = await followFleetSize(options, stepMs);
  const service = await startIncidents(options, {
    log,
    encode: await createIncidentEncoder(stream.output.format, { topic: incidentsTopic, registrar: registry }),
    stepMs,
    stepOf: (detector) => steps.get(detector) ?? STEP_MS_DEFAULT,
    quietMs,
    dependencies: new Dependencies(config.dependsOn),
    fleet: size.fleet,
  }).catch(async (error: unknown) => {
    size.stop();
    await registry?.close();
    throw error;
  });
  metrics.brokerConnected.set(1);
  collectIncidents(metrics, () => service.run());
  return {
    ...service,
    stop: async () => {
      await service.stop();
      size.stop();
      await registry?.close();
    },
  };
}

/** Follows the size of the fleet and what its series share; null while it is not known. */
async function followFleetSize({ config: { kafka, stream }, logger }: RunIncidentsOptions, stepMs: number) {
  const rates = stream.detectors.map(({ settings }) => settings.alarmRate ?? 0);
  const alarmRate = rates.length === 0 ? ALARM_RATE_DEFAULT : Math.max(...rates);
  const { scores } = stream.topics;
  let [fleet, failed] = [null as NewFleet | null, false];
  let sampled = { perMs: 0, sample: [] as readonly string[] };
  const measure = async () => {
    try {
      const measured = await measureFleet({ config: kafka }, scores, beginningMs(stepMs));
      if (measured === null) return;
      const { perMs } = measured;
      const isSimilar = Math.abs(Math.log(perMs / sampled.perMs)) < Math.log(SIMILAR_SIZE);
      if (!isSimilar) sampled = { perMs, sample: await measured.sample(Math.random) };
      fleet = new NewFleet(perMs * alarmRate, sampled.sample);
      failed = false;
    } catch (error) {
      if (!failed) logger.warn({ err: error, topic: scores }, 'the size of the fleet is not known');
      failed = true;
    }
  };
  await measure();
  const timer = setInterval(measure, MEASURE_MS);
  return { fleet: () => fleet, stop: () => clearInterval(timer) };
}

function startIncidents(
  { metrics, logger }: RunIncidentsOptions,
  grouping: Pick<IncidentRunOptions, 'log' | 'encode' | keyof IncidentStateOptions>,
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
        logger.info(isActive ? 'this process creates the incidents' : 'another process creates the incidents'),
      connection: (error) => {
        metrics.brokerConnected.set(error === null ? 1 : 0);
        if (error === null) logger.info('Kafka is available again');
        else logger.warn({ err: error }, 'Kafka is unavailable');
      },
      interrupted: (error) => logger.warn({ err: error }, 'the incidents continue from the committed state'),
    },
  });
}
