import type { AnomalyEvent, EventType } from '../../records/anomaly-event.ts';
import type { Incident } from '../../records/incident.ts';
import { drainChanges, Entries, type StateChanges } from '../../singleton/entries.ts';
import { KeptPlace } from '../../singleton/event-place.ts';
import { KeptFormat } from '../../singleton/kept-format.ts';
import { identify, type Notice, openingOf } from '../message/notification.ts';
import { asOpen, dedupKeyOf, hasEnded, recordOf, type Subject, subjectOf } from '../message/subject.ts';
import { type AlertRoute, type Routes, replacesShown } from '../routes/alert-route.ts';
import { groupOf, matchesEvent, matchesIncident, routesOf } from '../routes/match-event.ts';
import {
  type Alert,
  alertKey,
  coolDownKey,
  currentAlert,
  inOrder,
  isHeld,
  keptSubject,
  openingAlert,
  type Suppression,
} from './alert.ts';
import { AlertGroups, type DueGroup } from './alert-groups.ts';
import { IncidentEvents } from './incident-events.ts';
import { MutedRoutes } from './muted-routes.ts';
import { Outbox } from './outbox.ts';
import { closedNotice, RecentEnds } from './recent-ends.ts';

/** Most open alerts, and most cool-downs. Further events are not sent but counted; further cool-downs do not start. */
const ALERTS_MAX = 100_000;

/** Format of the stored state. Since 2 it has incidents, since 3 repeated ends and notified receivers. */
const FORMAT = 3;

interface AlertUpdate {
  readonly key: string;
  readonly types: readonly EventType[];
}

/** Decides what is sent: a state machine without clock, chance or I/O, restored from what it has written. */
export class AlertState {
  readonly #routes: readonly AlertRoute[];
  /** Routes of open alerts that the routes file no longer has. */
  readonly #formerRoutes = new Set<string>();
  readonly #count: (suppression: Suppression) => void;
  readonly #changes: StateChanges = new Map();
  readonly #format = new KeptFormat('alerts', FORMAT, this.#changes);
  readonly #alerts = new Entries<Alert>('alert/', this.#changes);
  readonly #recentEnds: RecentEnds;
  readonly #groups = new AlertGroups(this.#changes);
  readonly #coolDowns = new Entries<number>('cool-down/', this.#changes);
  /** Positions in the topics of events and incidents. */
  readonly place = new KeptPlace(this.#changes);
  readonly incidentPlace = new KeptPlace(this.#changes, 'incidents-');
  readonly outbox: Outbox;
  readonly #incidentEvents: IncidentEvents;
  readonly muted: MutedRoutes;
  /** Receivers that replace what they show. */
  readonly #replacing: ReadonlySet<string>;

  /** @param count called when an event is not sent, or not yet */
  constructor({ routes, receivers }: Pick<Routes, 'routes' | 'receivers'>, count: (suppression: Suppression) => void) {
    this.#routes = routes;
    this.#count = count;
    this.#incidentEvents = new IncidentEvents(routes, this.#changes);
    this.muted = new MutedRoutes(routes, this.#incidentEvents);
    this.#replacing = new Set(receivers.filter(({ target }) => replacesShown(target)).map(({ name }) => name));
    this.#recentEnds = new RecentEnds(receivers, this.#changes);
    this.outbox = new Outbox(
      receivers.map(({ name }) => name),
      this.#changes,
    );
  }

  get open(): number {
    return this.#alerts.size;
  }

  /** Restores a stored entry. Throws a ServiceError if a newer version has written it. */
  restore(key: string, json: string | null): void {
    const alerts = [this.#alerts, this.#recentEnds, this.#groups, this.#coolDowns, this.outbox];
    const kept = [...alerts, this.place, this.incidentPlace, this.#incidentEvents, this.#format];
    if (!kept.some((entries) => entries.restore(key, json))) this.#format.noteUnknown(key);
  }

  /** Call it after the last stored entry. Throws a ServiceError if one is unknown. */
  restored(nowMs: number): void {
    this.#format.restored();
    this.outbox.restored(nowMs);
    this.#incidentEvents.restored();
    for (const [key, stored] of this.#alerts.all()) {
      const alert = currentAlert(stored);
      if (alert !== stored) this.#alerts.set(key, alert);
      if (alert.group !== null && alert.waiting.length > 0) this.#groups.index(alert.group, key);
      if (this.#routeOf(alert) !== undefined) continue;
      this.#formerRoutes.add(alert.route);
      if (alert.notifiedAtMs === null) this.#alerts.delete(key);
      else if (alert.waiting.includes('closed')) this.#closeFormer(key, alert, nowMs);
    }
    if (this.readsIncidents) return;
    this.incidentPlace.clear();
    this.#incidentEvents.clear();
  }

  /** True if a route is on incidents, or the end of one is still to be sent. */
  get readsIncidents(): boolean {
    return (
      this.#routes.some(({ on }) => on === 'incidents') ||
      [...this.#alerts.values()].some((alert) => 'incident' in alert)
    );
  }

  drainChanges(): StateChanges {
    return drainChanges(this.#changes);
  }

  /** Handles a revision of an event. An older one, or the same again, changes nothing. */
  ingest(event: AnomalyEvent, nowMs: number): void {
    this.#ingest({ event }, nowMs, ({ match }) => matchesEvent(match, event));
  }

  ingestIncident(incident: Incident, nowMs: number): void {
    const { incidentId } = incident;
    this.#ingest({ incident: this.#incidentEvents.ingest(incident) }, nowMs, (route) => {
      return matchesIncident(route.match, incident, this.#incidentEvents.isMeantBy(route, incidentId));
    });
  }

  #ingest(given: Subject, nowMs: number, matches: (route: AlertRoute) => boolean): void {
    const subject = keptSubject(given);
    if (subject === null) {
      this.#count('too-large');
      return;
    }
    const names = new Set([...this.#routes.map(({ name }) => name), ...this.#formerRoutes]);
    const known = Array.from(names, (name) => alertKey(name, subject)).filter((key) => this.#alerts.get(key));
    for (const key of known) this.#follow(key, subject, nowMs);
    if (hasEnded(subject)) return;
    const { updatedAtMs } = recordOf(subject);
    for (const route of routesOf(this.#routes, 'event' in subject ? 'events' : 'incidents', matches)) {
      const key = alertKey(route.name, subject);
      if (known.includes(key)) continue;
      if (route.ageLimitMs !== null && nowMs - updatedAtMs > route.ageLimitMs) this.#count('age');
      else if (this.#alerts.size >= ALERTS_MAX) this.#count('full');
      else {
        this.#alerts.set(key, openingAlert(route.name, subject));
        this.#consider(key, nowMs, this.#count);
      }
    }
  }

  /** Sends what is due: held alerts and the messages of groups. */
  advance(nowMs: number): void {
    for (const [key, untilMs] of this.#coolDowns.all()) if (untilMs <= nowMs) this.#coolDowns.delete(key);
    this.#recentEnds.expire(nowMs);
    for (const group of this.#groups.popDue(nowMs)) this.#flush(group, nowMs);
    for (const [key, alert] of this.#alerts.all()) if (isHeld(alert)) this.#consider(key, nowMs, () => {});
  }

  /** Returns open alerts and recent ends that a receiver was notified of, if it needs repetition. */
  repeatedTo(receiver: string): Notice[] {
    const notices = this.#recentEnds.to(receiver);
    if (!this.#recentEnds.isRepeatedTo(receiver)) return notices;
    for (const { opening, notifiedReceivers, waiting, ...alert } of this.#alerts.values()) {
      if (opening === null || !notifiedReceivers.includes(receiver) || waiting.includes('closed')) continue;
      notices.push({ type: 'updated', ...subjectOf(alert), opening });
    }
    return notices;
  }

  /** Queues dead letters again, except notices of events that are no longer open. */
  redeliver(nowMs: number): number {
    const open = new Set([...this.#alerts.values()].map(dedupKeyOf));
    return this.outbox.redeliver(open, nowMs);
  }

  #follow(key: string, subject: Subject, nowMs: number): void {
    const known = this.#alerts.get(key);
    if (known === undefined || recordOf(subject).revision <= recordOf(known).revision) return;
    const alert = { ...known, ...subject };
    this.#alerts.set(key, alert);
    const ended = hasEnded(subject);
    // An incident whose events are part of another one before it was sent is sent with that one.
    const isMerged = 'incident' in subject && subject.incident.mergedInto !== null && known.notifiedAtMs === null;
    if (isMerged) this.#count('merged');
    if (isMerged || isHeld(alert)) {
      if (ended) this.#alerts.delete(key);
      return;
    }
    const route = this.#routeOf(alert);
    if (route === undefined) {
      if (ended) this.#closeFormer(key, alert, nowMs);
    } else if (ended) {
      this.#update(key, 'closed', nowMs);
    } else if (alert.waiting.length === 0 && this.#updatedAt(alert, route).length > 0) {
      this.#update(key, 'updated', nowMs);
    }
  }

  #updatedAt({ notifiedReceivers, ...alert }: Alert, { updates }: AlertRoute): readonly string[] {
    if (updates) return notifiedReceivers;
    return 'incident' in alert ? notifiedReceivers.filter((receiver) => this.#replacing.has(receiver)) : [];
  }

  /** Notifies of a new alert, unless it is muted or cools down. */
  #consider(key: string, nowMs: number, count: (suppression: Suppression) => void): void {
    const alert = this.#alerts.get(key);
    const route = alert && this.#routeOf(alert);
    if (alert === undefined || route === undefined) return;
    const cooled = coolDownKey(alert);
    if (this.muted.has(route, alert, nowMs)) count('muted');
    else if (cooled !== null && (this.#coolDowns.get(cooled) ?? 0) > nowMs) count('cool-down');
    else this.#update(key, 'opened', nowMs);
  }

  /** Notifies at once, or with the next message of the group. */
  #update(key: string, type: EventType, nowMs: number): void {
    const alert = this.#alerts.get(key);
    const route = alert && this.#routeOf(alert);
    if (alert === undefined || route === undefined) return;
    if (route.groupBy === null && 'event' in alert) {
      this.#notify(route, null, [{ key, types: [type] }], nowMs);
      return;
    }
    // An event keeps its group, also if its kind changes.
    const group =
      alert.group ?? ('event' in alert ? `${route.name}/${groupOf(route.groupBy ?? [], alert.event)}` : key);
    this.#alerts.set(key, { ...alert, group, waiting: [...alert.waiting, type] });
    this.#groups.index(group, key);
    const fields = 'event' in alert ? group.slice(route.name.length + 1) : null;
    this.#groups.begin(group, { route: route.name, fields, flushAtMs: nowMs + route.groupWaitMs });
  }

  /** Closes an alert of a removed route at the receivers that were notified of it. */
  #closeFormer(key: string, alert: Alert, nowMs: number): void {
    const { opening, notifiedReceivers, route } = alert;
    this.#alerts.delete(key);
    if (opening === null) return;
    const notices = [closedNotice(alert, opening, nowMs)];
    this.#recentEnds.add(key, notices[0], notifiedReceivers);
    const message = { route, group: null, notices, createdAtMs: nowMs };
    for (const receiver of notifiedReceivers) this.outbox.add(identify({ ...message, receiver }));
  }

  #flush({ route: name, fields, alerts }: DueGroup, nowMs: number): void {
    const route = this.#routes.find((known) => known.name === name);
    if (route === undefined) return;
    const updates = alerts
      .map((key) => ({ key, alert: this.#alerts.get(key) }))
      .sort((one, other) => inOrder(one.alert, other.alert))
      .map(({ key, alert }) => ({ key, types: alert?.waiting ?? [] }));
    this.#notify(route, fields, updates, nowMs);
  }

  /** Queues a message for each receiver, and records the notified receivers. */
  #notify(route: AlertRoute, group: string | null, updates: readonly AlertUpdate[], nowMs: number): void {
    const byReceiver = new Map<string, Notice[]>();
    for (const { key, types } of updates) {
      const alert = this.#alerts.get(key);
      if (alert === undefined) continue;
      const opening = alert.opening ?? openingOf(alert);
      const notifiedReceivers = alert.notifiedAtMs === null ? route.receivers : alert.notifiedReceivers;
      for (const type of types) {
        // An alert that ended before its message was sent has two notices.
        const notice: Notice =
          type === 'closed' ? closedNotice(alert, opening, nowMs) : { type, ...asOpen(subjectOf(alert)), opening };
        for (const receiver of type === 'updated' ? this.#updatedAt(alert, route) : notifiedReceivers) {
          const notices = byReceiver.get(receiver);
          if (notices === undefined) byReceiver.set(receiver, [notice]);
          else notices.push(notice);
        }
      }
      const cooled = coolDownKey(alert);
      if (cooled !== null && types.includes('opened') && route.coolDownMs > 0 && this.#coolDowns.size < ALERTS_MAX) {
        this.#coolDowns.set(cooled, nowMs + route.coolDownMs);
      }
      if (types.includes('closed')) {
        this.#alerts.delete(key);
        this.#recentEnds.add(key, closedNotice(alert, opening, nowMs), notifiedReceivers);
      } else
        this.#alerts.set(key, {
          ...alert,
          opening,
          notifiedReceivers,
          notifiedAtMs: alert.notifiedAtMs ?? nowMs,
          waiting: [],
        });
    }
    const message = { route: route.name, group, createdAtMs: nowMs };
    for (const [receiver, notices] of byReceiver) this.outbox.addAll({ ...message, receiver, notices });
  }

  /** Returns undefined if the file no longer has the route, or has it on the other subject. */
  #routeOf(alert: Alert): AlertRoute | undefined {
    const on = 'event' in alert ? 'events' : 'incidents';
    return this.#routes.find((route) => route.name === alert.route && route.on === on);
  }
}
