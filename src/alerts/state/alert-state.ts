import type { AnomalyEvent, EventType } from '../../record/anomaly-event.ts';
import { eventUrgency } from '../../record/urgency.ts';
import { identify, type Notice, type Notification } from '../message/notification.ts';
import type { AlertRoute, EscalationStep, Routes } from '../routes/alert-route.ts';
import { groupOf, routesOf } from '../routes/match-event.ts';
import {
  type Alert,
  alertKey,
  asOpen,
  coolDownKey,
  inOrder,
  isHeld,
  keptEvent,
  openingAlert,
  type Suppression,
} from './alert.ts';
import { AlertGroups, type DueGroup } from './alert-groups.ts';
import { Entries, type StateChanges } from './entries.ts';
import { KeptPlace } from './event-place.ts';
import { MutedRoutes } from './muted-routes.ts';
import { Outbox } from './outbox.ts';

/**
 * Open alerts that are kept, and cool-downs. Above it a new event is not sent, which is counted and logged, and no
 * series cools down.
 */
const ALERTS_MAX = 100_000;

const MINUTE_MS = 60_000;
/** Format of what is kept. A newer one is refused: it was written by a newer version. */
const FORMAT = 1;

/** What one message has of an alert. */
interface AlertUpdate {
  readonly key: string;
  readonly types: readonly EventType[];
}

/**
 * What is open, what waits, and what is not delivered yet: the decisions of alerting, as a state machine without clock,
 * chance or I/O. Time comes in as an argument. All of it is restored from the entries that it has written.
 */
export class AlertState {
  readonly #routes: readonly AlertRoute[];
  /** Routes of open alerts that are not in the routes file any more. */
  readonly #formerRoutes = new Set<string>();
  readonly #count: (suppression: Suppression) => void;
  readonly #changes: StateChanges = new Map();
  readonly #format = new Entries<number>('format', this.#changes);
  readonly #alerts = new Entries<Alert>('alert/', this.#changes);
  readonly #groups = new AlertGroups(this.#changes);
  /** When the route may notify of the series again. */
  readonly #coolDowns = new Entries<number>('cool-down/', this.#changes);
  /** Where the reading of events is. */
  readonly place = new KeptPlace(this.#changes);
  readonly outbox: Outbox;
  readonly #muted: MutedRoutes;

  /** @param count called when an event is not sent, or not yet */
  constructor({ routes, receivers }: Pick<Routes, 'routes' | 'receivers'>, count: (suppression: Suppression) => void) {
    this.#routes = routes;
    this.#count = count;
    this.#muted = new MutedRoutes(routes);
    this.outbox = new Outbox(
      receivers.map(({ name }) => name),
      this.#changes,
    );
  }

  get open(): number {
    return this.#alerts.size;
  }

  /** Takes a kept entry over. Throws where a newer version has written it. */
  restore(key: string, json: string | null): void {
    const isOurs =
      [this.#alerts, this.#groups, this.#coolDowns, this.place, this.#format].some((entries) =>
        entries.restore(key, json),
      ) || this.outbox.restore(key, json);
    if (!isOurs || (this.#format.get('') ?? FORMAT) > FORMAT) {
      throw new TypeError(`the state of the alerts was written by a newer version: ${key}`);
    }
  }

  /** Call it after the last kept entry. */
  restored(nowMs: number): void {
    if (this.#format.size === 0) this.#format.set('', FORMAT);
    this.outbox.restored(nowMs);
    for (const [key, alert] of this.#alerts.all()) {
      if (alert.group !== null && alert.waiting.length > 0) this.#groups.index(alert.group, key);
      if (this.#routeOf(alert) !== undefined) continue;
      this.#formerRoutes.add(alert.route);
      if (alert.toldAtMs === null) this.#alerts.delete(key);
      else if (alert.waiting.includes('closed')) this.#closeFormer(key, alert, nowMs);
    }
  }

  /** What has changed since the last call. */
  takeChanges(): StateChanges {
    const changes = new Map(this.#changes);
    this.#changes.clear();
    return changes;
  }

  /** Takes a revision of an event in. An older one, or the same again, changes nothing. */
  observe(observed: AnomalyEvent, nowMs: number): void {
    const event = keptEvent(observed);
    if (event === null) {
      this.#count('too-large');
      return;
    }
    const names = [...this.#routes.map(({ name }) => name), ...this.#formerRoutes];
    const known = names.map((name) => alertKey(name, event)).filter((key) => this.#alerts.get(key) !== undefined);
    for (const key of known) this.#follow(key, event, nowMs);
    if (event.type === 'closed') return;
    for (const route of routesOf(this.#routes, event)) {
      const key = alertKey(route.name, event);
      if (known.includes(key)) continue;
      if (route.ageLimitMs !== null && nowMs - event.updatedAtMs > route.ageLimitMs) this.#count('age');
      else if (this.#alerts.size >= ALERTS_MAX) this.#count('full');
      else {
        this.#alerts.set(key, openingAlert(route.name, event));
        this.#consider(key, nowMs, this.#count);
      }
    }
  }

  /** Does what is due: sends held alerts and the messages of groups, takes steps of escalation. */
  advance(nowMs: number): void {
    for (const [key, untilMs] of this.#coolDowns.all()) if (untilMs <= nowMs) this.#coolDowns.delete(key);
    for (const group of this.#groups.takeDue(nowMs)) this.#flush(group, nowMs);
    for (const [key, alert] of this.#alerts.all()) {
      if (isHeld(alert)) this.#consider(key, nowMs, () => {});
      else this.#escalate(key, alert, nowMs);
    }
  }

  /** Ids of events that would be escalated now. */
  escalating(nowMs: number): string[] {
    const due = [...this.#alerts.values()].filter((alert) => this.#dueStep(alert, nowMs) !== undefined);
    return due.map(({ event }) => event.eventId);
  }

  /** Somebody has taken these events on: they are not escalated any more. */
  acknowledge(eventIds: ReadonlySet<string>): void {
    for (const [key, alert] of this.#alerts.all()) {
      if (!eventIds.has(alert.event.eventId)) continue;
      this.#alerts.set(key, { ...alert, escalated: this.#routeOf(alert)?.escalation.length ?? 0 });
    }
  }

  /** Open events that a receiver was notified of, as it would be notified of them now. */
  openAt(receiver: string): Notice[] {
    const notices: Notice[] = [];
    for (const { event, opening, toldTo, waiting } of this.#alerts.values()) {
      if (opening === null || !toldTo.includes(receiver) || waiting.includes('closed')) continue;
      notices.push({ type: 'updated', event, opening });
    }
    return notices;
  }

  /** Puts dead letters back into the queues, but for notices that an event is open which is not any more. */
  redeliver(nowMs: number): number {
    const open = new Set([...this.#alerts.values()].map(({ event }) => event.eventId));
    return this.outbox.redeliver(open, nowMs);
  }

  /** A further revision of an event that the route knows. */
  #follow(key: string, event: AnomalyEvent, nowMs: number): void {
    const alert = this.#alerts.get(key);
    if (alert === undefined || event.revision <= alert.event.revision) return;
    this.#alerts.set(key, { ...alert, event });
    if (isHeld(alert)) {
      if (event.type === 'closed') this.#alerts.delete(key);
    } else if (this.#routeOf(alert) === undefined) {
      if (event.type === 'closed') this.#closeFormer(key, { ...alert, event }, nowMs);
    } else if (event.type === 'closed') {
      this.#update(key, 'closed', nowMs);
    } else if (alert.waiting.length === 0 && this.#routeOf(alert)?.updates) {
      this.#update(key, 'updated', nowMs);
    }
  }

  /** Notifies of a new alert, unless its route is silent now. */
  #consider(key: string, nowMs: number, count: (suppression: Suppression) => void): void {
    const alert = this.#alerts.get(key);
    const route = alert && this.#routeOf(alert);
    if (alert === undefined || route === undefined) return;
    if (this.#muted.has(route, nowMs)) count('muted');
    else if ((this.#coolDowns.get(coolDownKey(alert)) ?? 0) > nowMs) count('cool-down');
    else this.#update(key, 'opened', nowMs);
  }

  /** At once, or with the next message of its group. */
  #update(key: string, type: EventType, nowMs: number): void {
    const alert = this.#alerts.get(key);
    const route = alert && this.#routeOf(alert);
    if (alert === undefined || route === undefined) return;
    if (route.groupBy === null) {
      this.#notify(route, null, [{ key, types: [type] }], nowMs);
      return;
    }
    // An event keeps its group, also where it turns out to be of another kind.
    const group = alert.group ?? `${route.name}/${groupOf(route.groupBy, alert.event)}`;
    this.#alerts.set(key, { ...alert, group, waiting: [...alert.waiting, type] });
    this.#groups.index(group, key);
    const fields = group.slice(route.name.length + 1);
    this.#groups.begin(group, { route: route.name, fields, flushAtMs: nowMs + route.groupWaitMs });
  }

  /** The route is gone, but its receivers were notified that the event is open. */
  #closeFormer(key: string, { event, opening, toldTo, route }: Alert, nowMs: number): void {
    this.#alerts.delete(key);
    if (opening === null) return;
    const notices = [{ type: 'closed', event, opening }] as const;
    for (const receiver of toldTo) {
      this.#queue({ receiver, route, group: null, notices, escalatedAfterMinutes: null, createdAtMs: nowMs });
    }
  }

  #flush({ route: name, fields, alerts }: DueGroup, nowMs: number): void {
    const route = this.#routes.find((known) => known.name === name);
    if (route === undefined) return;
    const updates = alerts
      .map((key) => ({ key, alert: this.#alerts.get(key) }))
      .sort((one, other) => inOrder(one.alert?.event, other.alert?.event))
      .map(({ key, alert }) => ({ key, types: alert?.waiting ?? [] }));
    this.#notify(route, fields, updates, nowMs);
  }

  /** Queues a message for each receiver that it concerns, and notes who was notified. */
  #notify(route: AlertRoute, group: string | null, updates: readonly AlertUpdate[], nowMs: number): void {
    const byReceiver = new Map<string, Notice[]>();
    for (const { key, types } of updates) {
      const alert = this.#alerts.get(key);
      if (alert === undefined) continue;
      const { event } = alert;
      const opening = alert.opening ?? { kind: event.kind, urgency: eventUrgency(event) };
      const toldTo = alert.toldAtMs === null ? route.receivers : alert.toldTo;
      for (const type of types) {
        // An event that closed before its message was sent: two notices, as if they had been two messages.
        const notice = { type, event: type === 'closed' ? event : asOpen(event), opening };
        for (const receiver of toldTo) {
          const notices = byReceiver.get(receiver);
          if (notices === undefined) byReceiver.set(receiver, [notice]);
          else notices.push(notice);
        }
      }
      if (types.includes('opened') && route.coolDownMs > 0 && this.#coolDowns.size < ALERTS_MAX) {
        this.#coolDowns.set(coolDownKey(alert), nowMs + route.coolDownMs);
      }
      if (types.includes('closed')) this.#alerts.delete(key);
      else this.#alerts.set(key, { ...alert, opening, toldTo, toldAtMs: alert.toldAtMs ?? nowMs, waiting: [] });
    }
    const message = { route: route.name, group, escalatedAfterMinutes: null, createdAtMs: nowMs };
    for (const [receiver, notices] of byReceiver) this.outbox.addAll({ ...message, receiver, notices });
  }

  /** Notifies further receivers of an alert that has been open for long. Within a mute window it waits. */
  #escalate(key: string, alert: Alert, nowMs: number): void {
    const { route, event, opening, escalated, toldTo } = alert;
    const step = this.#dueStep(alert, nowMs);
    if (opening === null || step === undefined) return;
    this.#alerts.set(key, {
      ...alert,
      escalated: escalated + 1,
      toldTo: [...new Set([...toldTo, ...step.receivers])],
    });
    const escalatedAfterMinutes = Math.round(step.afterMs / MINUTE_MS);
    const notices = [{ type: 'opened', event: asOpen(event), opening }] as const;
    for (const receiver of step.receivers) {
      const message = { receiver, route, group: null, notices, escalatedAfterMinutes, createdAtMs: nowMs };
      this.#queue(message);
    }
  }

  /** The step of escalation whose time has come. */
  #dueStep(alert: Alert, nowMs: number): EscalationStep | undefined {
    const { toldAtMs, waiting, escalated } = alert;
    const route = this.#routeOf(alert);
    if (toldAtMs === null || waiting.includes('closed') || route === undefined) return undefined;
    const step = route.escalation.at(escalated);
    return step === undefined || toldAtMs + step.afterMs > nowMs || this.#muted.has(route, nowMs) ? undefined : step;
  }

  #queue(notification: Omit<Notification, 'id'>): void {
    this.outbox.add(identify(notification));
  }

  #routeOf({ route }: Alert): AlertRoute | undefined {
    return this.#routes.find(({ name }) => name === route);
  }
}
