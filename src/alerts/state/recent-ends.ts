import { Entries, type StateChanges } from '../../singleton/entries.ts';
import type { Notice, Opening } from '../message/notification.ts';
import { type Subject, subjectOf } from '../message/subject.ts';
import { needsRepetition } from '../routes/alert-route.ts';
import type { ReceiverSettings } from '../routes/receiver-schema.ts';

/**
 * An end is repeated for so long, as Prometheus does: Alertmanager loses it if it restarts, or if a silence covers the
 * alert, before it has notified anybody.
 */
export const END_REPEATED_MS = 15 * 60_000;
const ENDS_MAX = 100_000;

type ClosedNotice = Notice & { readonly closedAtMs: number };

export function closedNotice(subject: Subject, opening: Opening, closedAtMs: number): ClosedNotice {
  return { type: 'closed', ...subjectOf(subject), opening, closedAtMs };
}

export class RecentEnds {
  readonly #repeating: ReadonlySet<string>;
  readonly #ends: Entries<{ readonly notice: ClosedNotice; readonly receivers: readonly string[] }>;

  constructor(receivers: readonly ReceiverSettings[], changes: StateChanges) {
    this.#repeating = new Set(receivers.filter(({ target }) => needsRepetition(target)).map(({ name }) => name));
    this.#ends = new Entries('ended/', changes);
  }

  restore(key: string, json: string | null): boolean {
    return this.#ends.restore(key, json);
  }

  isRepeatedTo(receiver: string): boolean {
    return this.#repeating.has(receiver);
  }

  /** @param notified receivers of the notice */
  add(key: string, notice: ClosedNotice, notified: readonly string[]): void {
    const receivers = notified.filter((receiver) => this.#repeating.has(receiver));
    if (receivers.length > 0 && this.#ends.size < ENDS_MAX) this.#ends.set(key, { notice, receivers });
  }

  expire(nowMs: number): void {
    for (const [key, { notice }] of this.#ends.all()) {
      if (nowMs - notice.closedAtMs >= END_REPEATED_MS) this.#ends.delete(key);
    }
  }

  to(receiver: string): Notice[] {
    return [...this.#ends.values()].filter(({ receivers }) => receivers.includes(receiver)).map(({ notice }) => notice);
  }
}
