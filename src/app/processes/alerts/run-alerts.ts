import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { reportAlerts } from '../../../alerts/alert-reports.ts';
import { type AlertService, startAlertService } from '../../../alerts/alert-service.ts';
import { placeOf } from '../../../alerts/message/template-fields.ts';
import type { Routes } from '../../../alerts/routes/alert-route.ts';
import { readRoutesFile } from '../../../alerts/routes/routes-file.ts';
import type { SettledNotification } from '../../../alerts/state/outbox.ts';
import { createEventDecoder } from '../../../codecs/event-codec.ts';
import { connectRegistry } from '../../../codecs/formats/registry.ts';
import { createIncidentDecoder } from '../../../codecs/incident-codec.ts';
import type { ConfigResult, KafkaConfig } from '../../../config/config.ts';
import type { LoadedConfig } from '../../../config/load.ts';
import { readNamedFile } from '../../../config/schema/named-file.ts';
import { processSecrets } from '../../../config/schema/read-settings.ts';
import { topicNameOf } from '../../../config/topic-name.ts';
import { ensureSingleTopic } from '../../../engine/topics/topic-admin.ts';
import type { Logger } from '../../../ops/logger.ts';
import { collectAlerts, type Metrics } from '../../../ops/metrics.ts';
import type { MutedSeries } from '../../../records/series/muted-series.ts';
import type { Database } from '../../../store/database/database.ts';
import { openDatabase, STORE_FILE } from '../../../store/database/open-store.ts';
import { holdingMutes } from '../../../store/reviews/mutes.ts';
import { keepSent, type SentAlert } from '../../../store/reviews/sent-alerts.ts';
import { followChanges } from '../changes/changes-topic.ts';
import { loggedConnection } from '../logged-connection.ts';
import { createKafkaSingletonLog, followRecords } from '../singleton/kafka-singleton-log.ts';

/** Name of the group whose processes send these alerts, and of the topic of its state. */
function alertsGroup({ stream: { groupId } }: Pick<LoadedConfig, 'stream'>): string {
  return `${groupId}-alerts`;
}

export function stateTopicOf(routes: Routes, config: Pick<LoadedConfig, 'stream'>): string {
  return routes.stateTopic ?? topicNameOf(alertsGroup(config));
}

/** The routes file at `path`, or all its problems; null without a path. */
export function loadRoutes(path: string | null): ConfigResult<Routes> | null {
  if (path === null) return null;
  const problems: string[] = [];
  const content = readNamedFile({ key: 'ROUTES', path }, (file) => readFileSync(file, 'utf8'), problems);
  const routes = content === null ? null : readRoutesFile({ name: path, content }, processSecrets, problems);
  return routes === null ? { kind: 'problems', problems } : { kind: 'config', config: routes };
}

interface RunAlertsOptions {
  readonly config: LoadedConfig & { readonly kafka: KafkaConfig };
  readonly routes: Routes;
  readonly from: 'earliest' | 'latest';
  readonly redeliver: boolean;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** Makes the topic of the state where it is missing, and starts to send. Throws a ServiceError. */
export async function runAlerts(options: RunAlertsOptions): Promise<AlertService> {
  const { config, routes, from, redeliver, metrics, logger } = options;
  const { kafka, stream, worker, registry: registryConfig, incidents } = config;
  const connection = loggedConnection(kafka, logger);
  const { events: eventsTopic } = stream.topics;
  const stateTopic = stateTopicOf(routes, config);
  await ensureSingleTopic(connection, 'state', { topic: stateTopic, like: eventsTopic });
  if (routes.routes.some(({ on }) => on === 'incidents')) {
    await ensureSingleTopic(connection, 'output', { topic: incidents.topic, like: eventsTopic });
  }
  const registry = registryConfig === null ? null : await connectRegistry(registryConfig);
  const unreadable = (what: string) => (place: object, reason: string) =>
    logger.error({ ...place, reason }, `a record of the ${what}s topic is no ${what}`);
  const log = createKafkaSingletonLog({
    ...connection,
    readEvents: followRecords(connection, {
      topic: eventsTopic,
      decode: createEventDecoder(stream.output.format, registry),
      from,
      logger,
      onUnreadable: unreadable('event'),
    }),
    stateTopic,
    outputTopic: null,
    groupId: alertsGroup(config),
    sessionMs: worker.sessionMs,
  });
  const readIncidents = followRecords(connection, {
    topic: incidents.topic,
    decode: createIncidentDecoder(stream.output.format, registry),
    from,
    logger,
    onUnreadable: unreadable('incident'),
  });
  const store = openAlertStore(config);
  const followed = followChanges({ kafka, topic: config.changesTopic, logger });
  await followed.begun;
  const closeAll = () => Promise.all([registry?.close(), store.close(), followed.stop()]);
  const service = await startAlertService({
    log,
    readIncidents,
    routes,
    reports: reportAlerts(metrics, logger),
    nowMs: Date.now,
    random: Math.random,
    redeliver,
    keepSent: (settled) => store.keepSent(settled, Date.now()),
    mutes: () => store.mutes(Date.now()),
    changes: followed.changes,
  }).catch(async (error: unknown) => {
    await closeAll();
    throw error;
  });
  metrics.brokerConnected.set(1);
  collectAlerts(metrics, () => service.figures());
  return {
    ...service,
    stop: async () => {
      await service.stop();
      await closeAll();
    },
  };
}

/** The store is opened when it is first read, and only where there is one: alerts need none. */
export function openAlertStore({ dataDir, storeUrl }: LoadedConfig) {
  let store: Promise<Database> | null = null;
  const open = async (): Promise<Database | null> => {
    if (store === null && storeUrl === null && !existsSync(join(dataDir, STORE_FILE))) return null;
    store ??= openDatabase({ dataDir, url: storeUrl }).catch((error: unknown) => {
      store = null;
      throw error;
    });
    return store;
  };
  return {
    async mutes(nowMs: number): Promise<readonly MutedSeries[]> {
      const database = await open();
      return database === null ? [] : holdingMutes(database, nowMs);
    },
    async keepSent(settled: readonly SettledNotification[], nowMs: number) {
      const database = await open();
      if (database === null) return;
      const sent = settled.flatMap((each) => sentAlerts(each, nowMs));
      await database.transaction((sql) => keepSent(sql, sent));
    },
    close: async () => (await store?.catch(() => null))?.close(),
  };
}

/** An entry for each event or incident of the message. */
function sentAlerts({ notification, death }: SettledNotification, atMs: number): SentAlert[] {
  const { id: notificationId, receiver, route, notices } = notification;
  const message = { atMs, notificationId, receiver, route };
  const [outcome, detail] = [death?.reason ?? 'accepted', death?.detail ?? null];
  return notices.map((notice) => {
    const subject =
      'event' in notice
        ? { about: 'event' as const, subjectId: notice.event.eventId, subject: placeOf(notice) }
        : { about: 'incident' as const, subjectId: notice.incident.incidentId, subject: notice.incident.summary };
    return { ...message, ...subject, type: notice.type, outcome, detail };
  });
}
