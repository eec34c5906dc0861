import type { Incident, IncidentEvent } from '../../records/incident.ts';
import { choosesSubject } from '../../records/series/muted-series.ts';
import type { SeriesPattern } from '../../records/series/series-pattern.ts';
import { Entries, type StateChanges } from '../../singleton/entries.ts';
import type { NotifiedIncident } from '../message/subject.ts';
import type { AlertRoute } from '../routes/alert-route.ts';
import { isMeant, type MatchedEvent } from '../routes/match-event.ts';

/** Events of open incidents that are kept. Those above it are in no message, and no route is chosen by them. */
const EVENTS_MAX = 100_000;
/** Events of an incident that messages name: those that began first. */
const EVENTS_NAMED_MAX = 20;
type Labels = Readonly<Record<string, string>>;

/** Facts that follow from the events of an open incident, those of the ones that were merged into it among them. */
interface OpenIncident {
  readonly eventIds: Set<string>;
  /** Those that were merged into it. */
  readonly parts: Set<string>;
  /** Names of the routes whose conditions on events one of them matches. */
  readonly meantBy: Set<string>;
  /** Series of mute windows that one of them is not about. */
  readonly beyond: Set<SeriesPattern>;
  first: readonly IncidentEvent[];
  labels: Labels | null;
  seriesLabels: Labels | null;
}

/**
 * Events of open incidents, as records name them: each once, by the incident that it joined first. Nothing here depends
 * on their order.
 */
export class IncidentEvents {
  readonly #events: Entries<IncidentEvent & { readonly incidentId: string }>;
  /** The incident that each merged one is part of. */
  readonly #merged: Entries<string>;
  readonly #open = new Map<string, OpenIncident>();
  readonly #routes: readonly AlertRoute[];
  readonly #windows: readonly SeriesPattern[];

  constructor(routes: readonly AlertRoute[], changes: StateChanges) {
    this.#events = new Entries('incident-event/', changes);
    this.#merged = new Entries('merged-incident/', changes);
    this.#routes = routes.filter(({ on }) => on === 'incidents');
    this.#windows = [...new Set(this.#routes.flatMap(({ mute }) => mute.flatMap(({ series }) => series ?? [])))];
  }

  restore(key: string, json: string | null): boolean {
    return this.#events.restore(key, json) || this.#merged.restore(key, json);
  }

  /** Call it after the last kept entry. */
  restored(): void {
    for (const { incidentId, ...event } of this.#events.values()) this.#include(this.#contextOf(incidentId), event);
    for (const [part] of this.#merged.all()) this.#openOf(this.#contextOf(part)).parts.add(part);
  }

  /** Ingests a revision. Returns it with what all events of the incident have in common. */
  ingest(incident: Incident): NotifiedIncident {
    const { incidentId, mergedInto, events } = incident;
    for (const event of events) {
      if (this.#events.get(event.eventId) !== undefined || this.#events.size >= EVENTS_MAX) continue;
      this.#events.set(event.eventId, { ...event, incidentId });
      this.#include(incidentId, event);
    }
    const { first, labels, seriesLabels } = this.#openOf(incidentId);
    const notified = { ...incident, events: first, labels: labels ?? {}, seriesLabels: seriesLabels ?? {} };
    if (mergedInto !== null) this.#merge(incidentId, mergedInto);
    else if (incident.type === 'closed') this.#forget(incidentId);
    return notified;
  }

  /** True if an event of the incident matches the conditions of the route on events. */
  isMeantBy({ name }: AlertRoute, incidentId: string): boolean {
    const open = this.#open.get(incidentId);
    const route = this.#routes.find((each) => each.name === name);
    if (open === undefined || route === undefined) return false;
    return open.meantBy.has(name) || (open.eventIds.size === 0 && isUnconditional(route));
  }

  /** True if all events of the incident are about these series. */
  areAbout(series: SeriesPattern, incidentId: string): boolean {
    const open = this.#open.get(incidentId);
    return open !== undefined && open.eventIds.size > 0 && !open.beyond.has(series);
  }

  /** True if a condition holds for each event of the incident. */
  isEach(incidentId: string, holds: (event: MatchedEvent) => boolean): boolean {
    const { eventIds = new Set<string>() } = this.#open.get(incidentId) ?? {};
    return (
      eventIds.size > 0 &&
      [...eventIds].every((id) => {
        const event = this.#events.get(id);
        return event !== undefined && holds(event);
      })
    );
  }

  /** Nothing reads incidents any more. */
  clear(): void {
    for (const [eventId] of this.#events.all()) this.#events.delete(eventId);
    for (const [incidentId] of this.#merged.all()) this.#merged.delete(incidentId);
    this.#open.clear();
  }

  #contextOf(incidentId: string): string {
    let survivor = incidentId;
    for (let into = this.#merged.get(survivor); into !== undefined; into = this.#merged.get(survivor)) survivor = into;
    return survivor;
  }

  #openOf(incidentId: string): OpenIncident {
    let open = this.#open.get(incidentId);
    if (open === undefined) {
      open = {
        eventIds: new Set(),
        parts: new Set(),
        meantBy: new Set(),
        beyond: new Set(),
        first: [],
        labels: null,
        seriesLabels: null,
      };
      this.#open.set(incidentId, open);
    }
    return open;
  }

  #include(incidentId: string, event: IncidentEvent): void {
    const open = this.#openOf(incidentId);
    open.eventIds.add(event.eventId);
    open.first = firstOf([...open.first, event]);
    open.labels = shared(open.labels, event.labels);
    open.seriesLabels = shared(open.seriesLabels, event.seriesLabels);
    for (const { name, match } of this.#routes) if (isMeant(match, event)) open.meantBy.add(name);
    for (const window of this.#windows) if (!choosesSubject(window, event)) open.beyond.add(window);
  }

  #merge(part: string, into: string): void {
    const [from, survivor] = [this.#openOf(part), this.#openOf(into)];
    this.#merged.set(part, into);
    this.#open.delete(part);
    for (const eventId of from.eventIds) survivor.eventIds.add(eventId);
    for (const each of [part, ...from.parts]) survivor.parts.add(each);
    for (const name of from.meantBy) survivor.meantBy.add(name);
    for (const window of from.beyond) survivor.beyond.add(window);
    survivor.first = firstOf([...survivor.first, ...from.first]);
    if (from.labels !== null) survivor.labels = shared(survivor.labels, from.labels);
    if (from.seriesLabels !== null) survivor.seriesLabels = shared(survivor.seriesLabels, from.seriesLabels);
  }

  #forget(incidentId: string): void {
    const { eventIds, parts } = this.#openOf(incidentId);
    for (const eventId of eventIds) this.#events.delete(eventId);
    for (const part of parts) this.#merged.delete(part);
    this.#open.delete(incidentId);
  }
}

/** An incident whose events are not known, as it began before the first record that was read. */
function isUnconditional({ match: { detector, series, kinds, directions, labels } }: AlertRoute): boolean {
  return [detector, series, kinds, directions].every((condition) => condition === null) && labels.size === 0;
}

function firstOf(events: readonly IncidentEvent[]): readonly IncidentEvent[] {
  if (events.length <= 1) return events;
  return events
    .toSorted((one, other) => one.startedAtMs - other.startedAtMs || (one.eventId < other.eventId ? -1 : 1))
    .slice(0, EVENTS_NAMED_MAX);
}

/** Labels that both have; null: none are known yet. */
function shared(known: Labels | null, labels: Labels): Labels {
  if (known === null) return labels;
  return Object.fromEntries(Object.entries(known).filter(([name, value]) => labels[name] === value));
}
