import type { Logger } from '../ops/logger.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { EventType } from '../records/anomaly-event.ts';
import type { IncidentType } from '../records/incident.ts';
import type { SingletonReports } from '../singleton/singleton-service.ts';
import type { AlertDeath } from './message/notification.ts';
import type { DeliveryOutcome } from './receivers/receiver.ts';
import type { Suppression } from './state/alert.ts';

/** What happens, for metrics and log. Nothing of it is a secret. */
export interface AlertReports extends SingletonReports {
  observed(what: 'event' | 'incident', type: EventType | IncidentType): void;
  suppressed(suppression: Suppression): void;
  attempted(receiver: string, outcome: DeliveryOutcome, tookMs: number): void;
  gaveUp(receiver: string, death: AlertDeath): void;
  redelivered(count: number): void;
  /** Mutes cannot be read. */
  unmuted(error: Error): void;
  /** What was sent is missing from the list of it. */
  unkept(error: Error): void;
}

export function reportAlerts(metrics: Metrics, logger: Logger): AlertReports {
  return {
    observed: (what, type) => (what === 'event' ? metrics.alertEvents : metrics.alertIncidents).inc({ type }),
    suppressed: (reason) => {
      metrics.alertsSuppressed.inc({ reason });
      if (reason === 'full') logger.error('as many alerts are open as are kept: one is not sent');
      if (reason === 'too-large')
        logger.error('an event or incident is larger than what is kept of one: it is not sent');
    },
    attempted: (receiver, outcome, tookMs) => {
      metrics.alertDeliveries.inc({ receiver, outcome: outcome.kind });
      metrics.alertDeliverySeconds.observe(tookMs / 1_000);
      if (outcome.kind === 'failed') {
        logger.warn({ receiver, detail: outcome.detail }, 'a notification failed; it is repeated');
      }
      if (outcome.kind === 'partial' && outcome.open.length > 0) {
        const { open: to, detail } = outcome;
        logger.warn({ receiver, to, detail }, 'some addresses did not accept a mail; it is repeated to them');
      }
    },
    gaveUp: (receiver, { reason, detail }) =>
      logger.error({ receiver, reason, detail }, 'a notification became a dead letter'),
    redelivered: (count) => logger.info({ count }, 'dead letters were queued again'),
    unmuted: (error) => logger.warn({ err: error }, 'mutes cannot be read: those that were read hold'),
    unkept: (error) => logger.warn({ err: error }, 'what was sent cannot be kept for looking at'),
    active: (isActive) => logger.info(isActive ? 'this process sends the alerts' : 'another process sends the alerts'),
    connection: (error) => {
      metrics.brokerConnected.set(error === null ? 1 : 0);
      if (error === null) logger.info('Kafka is back');
      else logger.warn({ err: error }, 'Kafka is away');
    },
    interrupted: (error) => logger.warn({ err: error }, 'the alerts continue from what was written'),
  };
}
