import type { AnomalyEvent } from '../records/anomaly-event.ts';
import type { Incident, IncidentKind, IncidentOrigin } from '../records/incident.ts';
import { INCIDENT_KINDS } from '../records/incident.ts';
import { drainChanges, Entries, type StateChanges } from '../singleton/entries.ts';
import { KeptPlace } from '../singleton/event-place.ts';
import { KeptFormat } from '../singleton/kept-format.ts';
import { type IncidentMember, memberOf, refreshed } from './incident-member.ts';
import { incidentEvent, incidentRevision } from './incident-revision.ts';
import { type Dependencies, NO_DEPENDENCIES } from './membership/dependencies.ts';
import { beginningMs, FleetPast } from './membership/fleet-past.ts';
import type { NewFleet } from './membership/new-fleet.ts';
import { type Link, type Onset, OnsetLinks } from './membership/onset-links.ts';
import { partsOf, sharedContexts } from './membership/series-parts.ts';
import { OpenMembers } from './open-members.ts';

/** Events of open incidents. Above it the incident that was quiet for longest ends. */
const MEMBERS_MAX = 50_000;
/** Most events that one revision names. Further ones are in further revisions. */
export const NAMED_MAX = 1_000;
/** Length of these as JSON: a record of Kafka must hold them. */
export const NAMED_CHARACTERS_MAX = 256 * 1024;
/** An incident closes so long after the last record of its events, once all of them have ended. */
export const QUIET_MS = 60_000;
/** At most so often a revision of an incident that is open. */
export const UPDATE_MS = 1_000;
/** Onsets of one incident are within so many beginnings: it takes in no more after that. */
const SPAN_BEGINNINGS = 40;
const FORMAT = 1;
type NamedMember = readonly [eventId: string, member: IncidentMember];

/** Stored state of an incident without its events. */
interface KeptIncident {
  /** Number of its newest revision; -1 before the first. */
  readonly revision: number;
  readonly kind: IncidentKind;
  readonly usualCount: number | null;
  readonly openedOrigins: readonly IncidentOrigin[];
  /** Times of the last record of its events and of its last revision, by the clock of the process. */
  readonly heardAtMs: number;
  readonly revisedAtMs: number;
  /** Changed since its last revision. */
  readonly isDirty: boolean;
}

export interface IncidentStateOptions {
  /** Mean step of a detector, in milliseconds. */
  readonly stepOf: (detector: string) => number;
  /** The step that the past of the fleet is counted by. */
  readonly stepMs: number;
  /**
   * An incident closes so long after the last record of its events; by default after `QUIET_MS`, at least a
   * beginning.
   */
  readonly quietMs?: number | null;
  /** Size of a fleet without a past, which its events are compared with; null if it is not known. */
  readonly fleet?: () => NewFleet | null;
  /** Hints about what depends on what: events of one incident stay together, even if its hints change. */
  readonly dependencies?: Dependencies;
}

/**
 * Groups related events: a state machine without clock, chance or I/O. Events and instants go in, revisions of
 * incidents come out. All of it is restored from the entries that it has written. Which events are one incident is a
 * function of the set of events: the order in which partitions are read does not matter, within `QUIET_MS`.
 */
export class IncidentState {
  readonly #options: IncidentStateOptions;
  readonly #changes: StateChanges = new Map();
  readonly #format = new KeptFormat('incidents', FORMAT, this.#changes);
  readonly #incidents = new Entries<KeptIncident>('incident/', this.#changes);
  readonly #members = new OpenMembers(this.#changes);
  readonly place = new KeptPlace(this.#changes);
  readonly #dependencies: Dependencies;
  readonly #past: FleetPast;
  readonly #links: OnsetLinks;
  readonly #written: Incident[] = [];

  constructor(options: IncidentStateOptions) {
    this.#options = options;
    this.#dependencies = options.dependencies ?? NO_DEPENDENCIES;
    this.#past = new FleetPast(options.stepMs, this.#changes, this.#dependencies);
    this.#links = new OnsetLinks(this.#past, this.#dependencies, options.fleet);
  }

  get open(): number {
    return this.#incidents.size;
  }

  get events(): number {
    return this.#members.size;
  }

  /** Restores a stored entry. Throws a ServiceError if a newer version has written it. */
  restore(key: string, json: string | null): void {
    const kept = [this.#format, this.#incidents, this.#members, this.place, this.#past];
    if (!kept.some((entries) => entries.restore(key, json))) this.#format.noteUnknown(key);
  }

  /** Call it after the last stored entry. Throws a ServiceError if one is unknown. */
  restored(): void {
    this.#format.restored();
    this.#past.restored();
    this.#members.restored();
    for (const [eventId, member] of this.#members.all()) {
      if (!member.isPause) this.#links.add(this.#onsetOf(eventId, member), () => {});
    }
  }

  drainChanges(): StateChanges {
    return drainChanges(this.#changes);
  }

  /** Returns the revisions since the last call, in the order of writing. */
  drainRevisions(): readonly Incident[] {
    return this.#written.splice(0);
  }

  /** Handles a revision of an event. An older one, or the same again, changes nothing. */
  ingest(event: AnomalyEvent, nowMs: number): void {
    const { eventId } = event;
    const known = this.#members.find(eventId);
    if (known !== undefined) {
      if (event.revision <= known.revision) return;
      this.#members.update(eventId, refreshed(known, event));
      this.#noteRecord(known.incidentId, nowMs);
      return;
    }
    // It began before the first event that was read, or its incident has ended.
    if (event.type === 'closed') return;
    if (this.#members.size >= MEMBERS_MAX) this.#endQuietest();
    const member = memberOf(event, this.#options.stepOf(event.detector));
    this.#members.add(eventId, member);
    this.#incidents.set(eventId, {
      revision: -1,
      kind: member.isPause ? 'pause' : 'single',
      usualCount: null,
      openedOrigins: [],
      heardAtMs: nowMs,
      revisedAtMs: 0,
      isDirty: true,
    });
    if (member.isPause) this.#joinPauses(eventId, member, nowMs);
    else {
      const onset = this.#onsetOf(eventId, member);
      this.#past.note(onset);
      this.#links.add(onset, (link) => this.#join(link, nowMs));
    }
  }

  /** Makes the revisions that are due. Call it after the events of a batch, and periodically. */
  advance(nowMs: number): void {
    this.#links.followSize((link) => this.#join(link, nowMs));
    for (const [incidentId, kept] of this.#incidents.all()) {
      const isOver =
        nowMs - kept.heardAtMs >= (this.#options.quietMs ?? QUIET_MS) &&
        this.#isOver(incidentId, nowMs - kept.heardAtMs);
      if (isOver) this.#close(incidentId, nowMs);
      else if (kept.isDirty && (kept.revision < 0 || nowMs - kept.revisedAtMs >= UPDATE_MS)) {
        this.#revise(incidentId, kept.revision < 0 ? 'opened' : 'updated', nowMs);
      }
    }
  }

  /** True if all of its events have ended, and no record of them came for the length of a beginning. */
  #isOver(incidentId: string, quietMs: number): boolean {
    for (const { endedAtMs, stepMs } of this.#members.of(incidentId)) {
      if (endedAtMs === null || quietMs < (this.#options.quietMs ?? beginningMs(stepMs))) return false;
    }
    return true;
  }

  #onsetOf(eventId: string, member: IncidentMember): Onset {
    const { series, atMs, stepMs, strength } = member;
    const parts = partsOf(series, member);
    return { eventId, series, contexts: sharedContexts(parts), dimensions: parts.dimensions, atMs, stepMs, strength };
  }

  #noteRecord(incidentId: string, nowMs: number): void {
    this.#incidents.set(incidentId, { ...this.#incidents.get(incidentId)!, heardAtMs: nowMs, isDirty: true });
  }

  /** Joins detectors that stop at about the same time: they have one input. */
  #joinPauses(eventId: string, { atMs, stepMs }: IncidentMember, nowMs: number): void {
    for (const [other, member] of this.#members.all()) {
      const reachMs = Math.max(beginningMs(stepMs), beginningMs(member.stepMs));
      if (other === eventId || !member.isPause || Math.abs(member.atMs - atMs) > reachMs) continue;
      this.#join({ one: other, other: eventId, kind: 'related' }, nowMs);
    }
  }

  #join({ one, other, kind }: Link, nowMs: number): void {
    const [a, b] = [this.#members.get(one).incidentId, this.#members.get(other).incidentId];
    const least = Math.max(INCIDENT_KINDS.indexOf(kind), 0);
    if (a === b) {
      this.#raise(a, least);
      return;
    }
    const [first, second] = [this.#members.onsetsOf(a), this.#members.onsetsOf(b)];
    const spanMs = Math.max(first.toMs, second.toMs) - Math.min(first.fromMs, second.fromMs);
    const stepMs = Math.max(this.#members.get(one).stepMs, this.#members.get(other).stepMs);
    if (spanMs > SPAN_BEGINNINGS * beginningMs(stepMs)) return;
    const [surviving, merged] = this.#survivor(a, b);
    const [into, kept] = [this.#incidents.get(surviving)!, this.#incidents.get(merged)!];
    const rank = Math.max(INCIDENT_KINDS.indexOf(into.kind), INCIDENT_KINDS.indexOf(kept.kind), least);
    if (kept.revision >= 0) this.#write(merged, 'merged', nowMs, { mergedInto: surviving });
    this.#members.merge(merged, surviving);
    this.#incidents.delete(merged);
    const heardAtMs = Math.max(into.heardAtMs, kept.heardAtMs);
    this.#incidents.set(surviving, { ...into, kind: INCIDENT_KINDS[rank], heardAtMs, isDirty: true });
    this.#countUsual(surviving);
  }

  #raise(incidentId: string, least: number): void {
    const kept = this.#incidents.get(incidentId)!;
    if (INCIDENT_KINDS.indexOf(kept.kind) >= least) return;
    this.#incidents.set(incidentId, { ...kept, kind: INCIDENT_KINDS[least], isDirty: true });
    this.#countUsual(incidentId);
  }

  #countUsual(incidentId: string): void {
    const kept = this.#incidents.get(incidentId)!;
    if (kept.kind !== 'simultaneous') return;
    const { isKnown, usual } = this.#past.ratesAt(this.#members.onsetsOf(incidentId).fromMs);
    const usualCount = isKnown ? usual : null;
    if (usualCount !== kept.usualCount) this.#incidents.set(incidentId, { ...kept, usualCount });
  }

  /** Returns the written incident first, of two the earlier one. */
  #survivor(a: string, b: string): readonly [surviving: string, merged: string] {
    const isWritten = (id: string) => (this.#incidents.get(id)!.revision >= 0 ? 1 : 0);
    const startOf = (id: string) => this.#members.onsetsOf(id).fromMs;
    const order = isWritten(b) - isWritten(a) || startOf(a) - startOf(b) || (a < b ? -1 : 1);
    return order <= 0 ? [a, b] : [b, a];
  }

  #endQuietest(): void {
    let quietest: string | null = null;
    for (const [incidentId, { heardAtMs }] of this.#incidents.all()) {
      if (quietest === null || heardAtMs < this.#incidents.get(quietest)!.heardAtMs) quietest = incidentId;
    }
    if (quietest !== null) this.#close(quietest, this.#incidents.get(quietest)!.heardAtMs);
  }

  #close(incidentId: string, nowMs: number): void {
    if (this.#incidents.get(incidentId)!.revision < 0) this.#revise(incidentId, 'opened', nowMs);
    this.#revise(incidentId, 'closed', nowMs);
    const members = this.#members.inOrder(incidentId);
    if (this.#incidents.get(incidentId)!.kind !== 'pause') this.#past.learn(members.map(([, member]) => member));
    const moved = members.filter(([, { isPause }]) => !isPause);
    this.#links.remove(moved.map(([eventId, member]) => this.#onsetOf(eventId, member)));
    this.#members.remove(incidentId);
    this.#incidents.delete(incidentId);
  }

  #revise(incidentId: string, type: 'opened' | 'updated' | 'closed', nowMs: number): void {
    const named = this.#members.inOrder(incidentId).filter(([, { isNamed }]) => !isNamed);
    // Every event is named once. A revision has room for so many.
    for (let room = this.#roomFor(named); room < named.length; room = this.#roomFor(named)) {
      const isFirst = this.#incidents.get(incidentId)!.revision < 0;
      this.#write(incidentId, isFirst ? 'opened' : 'updated', nowMs, { named: named.splice(0, room) });
    }
    const isOpened = type === 'opened' && this.#incidents.get(incidentId)!.revision >= 0;
    this.#write(incidentId, isOpened ? 'updated' : type, nowMs, { named });
  }

  /** Returns the number of these events that the next revision names, at least one. */
  #roomFor(named: readonly NamedMember[]): number {
    let characters = 0;
    for (const [i, [eventId, member]] of named.slice(0, NAMED_MAX).entries()) {
      characters += JSON.stringify(incidentEvent(eventId, member)).length;
      if (i > 0 && characters > NAMED_CHARACTERS_MAX) return i;
    }
    return Math.min(named.length, NAMED_MAX);
  }

  #write(
    incidentId: string,
    type: Incident['type'],
    nowMs: number,
    { named = [], mergedInto = null }: { readonly named?: readonly NamedMember[]; readonly mergedInto?: string | null },
  ): void {
    const kept = this.#incidents.get(incidentId)!;
    const members = this.#members.inOrder(incidentId).map(([, member]) => member);
    const { kind, usualCount, openedOrigins } = kept;
    const incident = incidentRevision(
      { incidentId, type, revision: kept.revision + 1, kind, usualCount, openedOrigins, mergedInto },
      { members, named, past: this.#past, dependencies: this.#dependencies },
    );
    for (const [eventId, member] of named) this.#members.update(eventId, { ...member, isNamed: true });
    this.#written.push(incident);
    const { revision } = incident;
    this.#incidents.set(incidentId, {
      ...kept,
      revision,
      openedOrigins: incident.openedOrigins,
      revisedAtMs: nowMs,
      isDirty: false,
    });
  }
}
