import type { Entries } from '../../record/entries.ts';
import { identify } from '../message/notification.ts';
import { asOpen, subjectOf } from '../message/subject.ts';
import type { AlertRoute, EscalationStep } from '../routes/alert-route.ts';
import type { Alert } from './alert.ts';
import type { IncidentEvents, Reviewed } from './incident-events.ts';
import type { MutedRoutes } from './muted-routes.ts';
import type { Outbox } from './outbox.ts';

const MINUTE_MS = 60_000;

interface EscalationsParts {
  readonly alerts: Entries<Alert>;
  readonly routeOf: (alert: Alert) => AlertRoute | undefined;
  readonly incidentEvents: IncidentEvents;
  readonly muted: MutedRoutes;
  readonly outbox: Outbox;
}

/** Further receivers of alerts that have been open for long, unless somebody has taken them on. */
export class Escalations {
  readonly #parts: EscalationsParts;

  constructor(parts: EscalationsParts) {
    this.#parts = parts;
  }

  /** What would be escalated now, with everything whose review is one of it. */
  due(nowMs: number): Reviewed {
    const { alerts, incidentEvents } = this.#parts;
    return incidentEvents.reviewsOfAll([...alerts.values()].filter((alert) => this.#dueStep(alert, nowMs)));
  }

  /** Somebody has taken these on: what they are, or are part of, is not escalated any more. */
  acknowledge(acknowledged: Reviewed, nowMs: number): void {
    const { alerts, routeOf, incidentEvents } = this.#parts;
    for (const [key, alert] of alerts.all()) {
      if (this.#dueStep(alert, nowMs) === undefined) continue;
      const { events, incidents } = incidentEvents.reviewsOf(alert);
      const all = events.size > 0 && [...events].every((id) => acknowledged.events.has(id));
      if (!all && ![...incidents].some((id) => acknowledged.incidents.has(id))) continue;
      alerts.set(key, { ...alert, escalated: routeOf(alert)?.escalation.length ?? 0 });
    }
  }

  /** Takes the next step of an alert where it is due. Within a mute window it waits. */
  advance(key: string, alert: Alert, nowMs: number): void {
    const { route, opening, escalated, toldTo } = alert;
    const step = this.#dueStep(alert, nowMs);
    if (opening === null || step === undefined) return;
    this.#parts.alerts.set(key, {
      ...alert,
      escalated: escalated + 1,
      toldTo: [...new Set([...toldTo, ...step.receivers])],
    });
    const escalatedAfterMinutes = Math.round(step.afterMs / MINUTE_MS);
    const notices = [{ type: 'opened', ...asOpen(subjectOf(alert)), opening }] as const;
    for (const receiver of step.receivers) {
      const message = { receiver, route, group: null, notices, escalatedAfterMinutes, createdAtMs: nowMs };
      this.#parts.outbox.add(identify(message));
    }
  }

  /** The step whose time has come. */
  #dueStep(alert: Alert, nowMs: number): EscalationStep | undefined {
    const { toldAtMs, waiting, escalated } = alert;
    const route = this.#parts.routeOf(alert);
    if (toldAtMs === null || waiting.includes('closed') || route === undefined) return undefined;
    const step = route.escalation.at(escalated);
    if (step === undefined || toldAtMs + step.afterMs > nowMs) return undefined;
    return this.#parts.muted.has(route, alert, nowMs) ? undefined : step;
  }
}
