import type { Logger } from '../ops/logger.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { EventType } from '../records/anomaly-event.ts';
import type { IncidentType } from '../records/incident.ts';
import type { SingletonReports } from '../singleton/singleton-service.ts';
import type { AlertDeath } from './message/notification.ts';
import type { DeliveryOutcome } from './receivers/receiver.ts';
import type { Suppression } from './state/alert.ts';

export interface AlertReports extends SingletonReports {
  ingested(what: 'event' | 'incident', type: EventType | IncidentType): void;
  suppressed(suppression: Suppression): void;
  attempted(receiver: string, outcome: DeliveryOutcome, tookMs: number): void;
  gaveUp(receiver: string, death: AlertDeath): void;
  redelivered(count: number): void;
  unmuted(error: Error): void;
  /** Sent messages are missing from the store. */
  unkept(error: Error): void;
}

export function reportAlerts(metrics: Metrics, logger: Logger): AlertReports {
  return {
    ingested: (what, type) => (what === 'event' ? metrics.alertEvents : metrics.alertIncidents).inc({ type }),
    suppressed: (reason) => {
      metrics.alertsSuppressed.inc({ reason });
      if (reason === 'full') logger.error('the limit of open alerts is reached: an event is not sent');
      if (reason === 'too-large')
        logger.error('an event or incident exceeds the size limit of an alert: it is not sent');
    },
    attempted: (receiver, outcome, tookMs) => {
      metrics.alertDeliveries.inc({ receiver, outcome: outcome.kind });
      metrics.alertDeliverySeconds.observe(tookMs / 1_000);
      if (outcome.kind === 'failed') {
        logger.warn({ receiver, detail: outcome.detail }, 'a notification failed and is retried');
      }
      if (outcome.kind === 'partial' && outcome.open.length > 0) {
        const { open: to, detail } = outcome;
        logger.warn({ receiver, to, detail }, 'some addresses did not accept a mail; it is retried for them');
      }
    },
    gaveUp: (receiver, { reason, detail }) =>
      logger.error({ receiver, reason, detail }, 'a notification became a dead letter'),
    redelivered: (count) => logger.info({ count }, 'dead letters were queued again'),
    unmuted: (error) => logger.warn({ err: error }, 'mutes cannot be read: the last ones apply'),
    unkept: (error) => logger.warn({ err: error }, 'sent messages cannot be stored for the console'),
    active: (isActive) => logger.info(isActive ? 'this process sends the alerts' : 'another process sends the alerts'),
    connection: (error) => {
      metrics.brokerConnected.set(error === null ? 1 : 0);
      if (error === null) logger.info('Kafka is available again');
      else logger.warn({ err: error }, 'Kafka is unavailable');
    },
    interrupted: (error) => logger.warn({ err: error }, 'the alerts continue from the committed state'),
  };
}
