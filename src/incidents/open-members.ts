import { Entries, type StateChanges } from '../singleton/entries.ts';
import type { IncidentMember } from './incident-member.ts';

/** The events of an incident, with their first and last onset. */
interface MemberGroup {
  readonly events: Set<string>;
  fromMs: number;
  toMs: number;
}

export class OpenMembers {
  readonly #members: Entries<IncidentMember>;
  readonly #groups = new Map<string, MemberGroup>();

  constructor(changes: StateChanges) {
    this.#members = new Entries('event/', changes);
  }

  get size(): number {
    return this.#members.size;
  }

  restore(key: string, json: string | null): boolean {
    return this.#members.restore(key, json);
  }

  /** Call it after the last stored entry. */
  restored(): void {
    for (const [eventId, member] of this.#members.all()) this.#include(eventId, member);
  }

  all(): Iterable<readonly [string, IncidentMember]> {
    return this.#members.all();
  }

  find(eventId: string): IncidentMember | undefined {
    return this.#members.get(eventId);
  }

  /** One that is known. */
  get(eventId: string): IncidentMember {
    return this.#members.get(eventId)!;
  }

  add(eventId: string, member: IncidentMember): void {
    this.#members.set(eventId, member);
    this.#include(eventId, member);
  }

  /** The same event, of the same incident. */
  update(eventId: string, member: IncidentMember): void {
    this.#members.set(eventId, member);
  }

  #include(eventId: string, { incidentId, atMs }: IncidentMember): void {
    const group = this.#groups.get(incidentId);
    if (group === undefined) {
      this.#groups.set(incidentId, { events: new Set([eventId]), fromMs: atMs, toMs: atMs });
      return;
    }
    group.events.add(eventId);
    group.fromMs = Math.min(group.fromMs, atMs);
    group.toMs = Math.max(group.toMs, atMs);
  }

  onsetsOf(incidentId: string): Readonly<Pick<MemberGroup, 'fromMs' | 'toMs'>> {
    return this.#groups.get(incidentId)!;
  }

  *of(incidentId: string): Iterable<IncidentMember> {
    for (const eventId of this.#groups.get(incidentId)!.events) yield this.get(eventId);
  }

  /** By their onsets: the same after a restart. */
  inOrder(incidentId: string): (readonly [eventId: string, member: IncidentMember])[] {
    const members = Array.from(
      this.#groups.get(incidentId)!.events,
      (eventId) => [eventId, this.get(eventId)] as const,
    );
    return members.sort(([a, one], [b, other]) => one.atMs - other.atMs || (a < b ? -1 : 1));
  }

  /** The events of one incident belong to another one from now on. */
  merge(merged: string, surviving: string): void {
    for (const eventId of this.#groups.get(merged)!.events) {
      this.add(eventId, { ...this.get(eventId), incidentId: surviving });
    }
    this.#groups.delete(merged);
  }

  remove(incidentId: string): void {
    for (const eventId of this.#groups.get(incidentId)!.events) this.#members.delete(eventId);
    this.#groups.delete(incidentId);
  }
}
