import type { AnomalyEvent, EventType } from '../../detector/event.ts';
import { identify, type Notice, type Notification } from '../message/notification.ts';
import { alertUrgency } from '../message/urgency.ts';
import type { AlertRoute, Routes } from '../routes/alert-route.ts';
import { groupOf, routesOf } from '../routes/match-event.ts';
import {
  type Alert,
  type AlertGroup,
  alertKey,
  asOpen,
  coolDownKey,
  inOrder,
  isHeld,
  keptEvent,
  openingAlert,
  type Suppression,
} from './alert.ts';
import { Entries, type StateChanges } from './entries.ts';
import type { EventPlace } from './event-place.ts';
import { MutedRoutes } from './muted-routes.ts';
import { Outbox } from './outbox.ts';

/** Open alerts that are kept. Above it a new event is not told, which is counted and logged. */
export const ALERTS_MAX = 100_000;

const MINUTE_MS = 60_000;
/** Of what is kept. A newer one is refused: it was written by a newer version. */
const FORMAT = 1;

/** What is told of an alert in one message. */
interface Telling {
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
  readonly #groups = new Entries<AlertGroup>('group/', this.#changes);
  /** When the route may tell of the series again. */
  readonly #coolDowns = new Entries<number>('cool-down/', this.#changes);
  readonly #positions = new Entries<number>('position/', this.#changes);
  readonly #topicId = new Entries<string>('topic-id', this.#changes);
  readonly outbox: Outbox;
  /** Keys of the alerts that wait for the message of their group, by the key of the group. */
  readonly #waiting = new Map<string, Set<string>>();
  readonly #muted: MutedRoutes;

  /** @param count called when an event is not told, or not yet */
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
      [this.#alerts, this.#groups, this.#coolDowns, this.#positions, this.#topicId, this.#format].some((entries) =>
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
      if (alert.group !== null && alert.waiting.length > 0) this.#await(alert.group, key);
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

  /** Where the reading of events is; null before the first of them. */
  place(): EventPlace | null {
    if (this.#positions.size === 0) return null;
    const positions = new Map([...this.#positions.all()].map(([partition, offset]) => [Number(partition), offset]));
    return { topicId: this.#topicId.get('') ?? null, positions };
  }

  moveTo({ topicId, positions }: EventPlace): void {
    if (topicId !== null && this.#topicId.get('') !== topicId) this.#topicId.set('', topicId);
    for (const [partition, offset] of positions) {
      if (this.#positions.get(String(partition)) !== offset) this.#positions.set(String(partition), offset);
    }
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

  /** Does what is due: tells held alerts, sends the messages of groups, takes steps of escalation. */
  advance(nowMs: number): void {
    for (const [key, untilMs] of this.#coolDowns.all()) if (untilMs <= nowMs) this.#coolDowns.delete(key);
    for (const [key, group] of this.#groups.all()) if (group.flushAtMs <= nowMs) this.#flush(key, group, nowMs);
    for (const [key, alert] of this.#alerts.all()) {
      if (isHeld(alert)) this.#consider(key, nowMs, () => {});
      else this.#escalate(key, alert, nowMs);
    }
  }

  /** Open events that a receiver was told of, as it would be told of them now. */
  openAt(receiver: string): Notice[] {
    const notices: Notice[] = [];
    for (const { event, opening, toldTo, waiting } of this.#alerts.values()) {
      if (opening === null || !toldTo.includes(receiver) || waiting.includes('closed')) continue;
      notices.push({ type: 'updated', event, opening });
    }
    return notices;
  }

  /** Puts dead letters back into the queues, but for what says that an event is open which is not any more. */
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
      this.#tell(key, 'closed', nowMs);
    } else if (alert.waiting.length === 0 && this.#routeOf(alert)?.updates) {
      this.#tell(key, 'updated', nowMs);
    }
  }

  /** Tells of a new alert, unless its route is silent now. */
  #consider(key: string, nowMs: number, count: (suppression: Suppression) => void): void {
    const alert = this.#alerts.get(key);
    const route = alert && this.#routeOf(alert);
    if (alert === undefined || route === undefined) return;
    if (this.#muted.has(route, nowMs)) count('muted');
    else if ((this.#coolDowns.get(coolDownKey(alert)) ?? 0) > nowMs) count('cool-down');
    else this.#tell(key, 'opened', nowMs);
  }

  /** At once, or with the next message of its group. */
  #tell(key: string, type: EventType, nowMs: number): void {
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
    this.#await(group, key);
    if (this.#groups.get(group) !== undefined) return;
    const fields = group.slice(route.name.length + 1);
    this.#groups.set(group, { route: route.name, fields, flushAtMs: nowMs + route.groupWaitMs });
  }

  #await(group: string, key: string): void {
    const keys = this.#waiting.get(group) ?? new Set();
    this.#waiting.set(group, keys.add(key));
  }

  /** The route is gone, but its receivers were told that the event is open. */
  #closeFormer(key: string, { event, opening, toldTo, route }: Alert, nowMs: number): void {
    this.#alerts.delete(key);
    if (opening === null) return;
    const notices = [{ type: 'closed', event, opening }] as const;
    for (const receiver of toldTo) {
      this.#queue({ receiver, route, group: null, notices, escalatedAfterMinutes: null, createdAtMs: nowMs });
    }
  }

  #flush(groupKey: string, { route: name, fields }: AlertGroup, nowMs: number): void {
    this.#groups.delete(groupKey);
    const keys = this.#waiting.get(groupKey) ?? [];
    this.#waiting.delete(groupKey);
    const route = this.#routes.find((known) => known.name === name);
    if (route === undefined) return;
    const told = [...keys]
      .map((key) => ({ key, alert: this.#alerts.get(key) }))
      .sort((one, other) => inOrder(one.alert?.event, other.alert?.event))
      .map(({ key, alert }) => ({ key, types: alert?.waiting ?? [] }));
    this.#notify(route, fields, told, nowMs);
  }

  /** Queues a message for each receiver that it concerns, and notes who was told. */
  #notify(route: AlertRoute, group: string | null, told: readonly Telling[], nowMs: number): void {
    const byReceiver = new Map<string, Notice[]>();
    for (const { key, types } of told) {
      const alert = this.#alerts.get(key);
      if (alert === undefined) continue;
      const { event } = alert;
      const opening = alert.opening ?? { kind: event.kind, urgency: alertUrgency(event) };
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
      if (types.includes('opened') && route.coolDownMs > 0) {
        this.#coolDowns.set(coolDownKey(alert), nowMs + route.coolDownMs);
      }
      if (types.includes('closed')) this.#alerts.delete(key);
      else this.#alerts.set(key, { ...alert, opening, toldTo, toldAtMs: alert.toldAtMs ?? nowMs, waiting: [] });
    }
    const message = { route: route.name, group, escalatedAfterMinutes: null, createdAtMs: nowMs };
    for (const [receiver, notices] of byReceiver) this.outbox.addAll({ ...message, receiver, notices });
  }

  /** Tells further receivers of an alert that has been open for long. Within a mute window it waits. */
  #escalate(key: string, alert: Alert, nowMs: number): void {
    const { toldAtMs, waiting, event, opening, escalated, toldTo } = alert;
    const route = this.#routeOf(alert);
    if (toldAtMs === null || opening === null || waiting.includes('closed') || route === undefined) return;
    const step = route.escalation.at(escalated);
    if (step === undefined || toldAtMs + step.afterMs > nowMs || this.#muted.has(route, nowMs)) return;
    this.#alerts.set(key, {
      ...alert,
      escalated: escalated + 1,
      toldTo: [...new Set([...toldTo, ...step.receivers])],
    });
    const escalatedAfterMinutes = Math.round(step.afterMs / MINUTE_MS);
    const notices = [{ type: 'opened', event: asOpen(event), opening }] as const;
    for (const receiver of step.receivers) {
      const said = { receiver, route: route.name, group: null, notices, escalatedAfterMinutes, createdAtMs: nowMs };
      this.#queue(said);
    }
  }

  #queue(notification: Omit<Notification, 'id'>): void {
    this.outbox.add(identify(notification));
  }

  #routeOf({ route }: Alert): AlertRoute | undefined {
    return this.#routes.find(({ name }) => name === route);
  }
}
