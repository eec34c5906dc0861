import { Entries, type StateChanges } from '../../singleton/entries.ts';
import { type AlertDeadLetter, type AlertDeath, identify, type Notification } from '../message/notification.ts';
import { dedupKeyOf } from '../message/subject.ts';

/** Notifications that wait for one receiver. Further ones become dead letters. */
export const QUEUED_MAX = 10_000;
/** Dead letters that are kept. Above it the oldest is removed. */
export const DEAD_LETTERS_MAX = 10_000;

/** Notices of one message. Further ones come in messages of their own. */
const NOTICES_MAX = 100;
/** Length of all notices of a message as JSON: a record of Kafka holds them, and receivers take them. */
const NOTICES_CHARACTERS_MAX = 128 * 1024;
const RECEIVER_REMOVED = { reason: 'receiver-removed', detail: 'the routes file does not name it' } as const;
/** Digits of a sequence number in a key: keys sort as numbers do. */
const SEQUENCE_DIGITS = 12;

/** Outcomes that wait to be stored for the console. Above it the oldest is dropped. */
const SETTLED_MAX = 10_000;

export interface SettledNotification {
  readonly notification: Notification;
  /** null: the receiver has accepted it. */
  readonly death: AlertDeath | null;
}

/** Stored notifications: those that no receiver has accepted yet, and dead letters. */
export class Outbox {
  readonly #receivers: ReadonlySet<string>;
  readonly #queued: Entries<Notification>;
  readonly #deadLetters: Entries<AlertDeadLetter>;
  readonly #queuedOf = new Map<string, number>();
  #added: [string, Notification][] = [];
  #settled: SettledNotification[] = [];
  #sequence = 0;

  constructor(receivers: readonly string[], changes: StateChanges) {
    this.#receivers = new Set(receivers);
    this.#queued = new Entries('queued/', changes);
    this.#deadLetters = new Entries('dead-letter/', changes);
  }

  restore(key: string, json: string | null): boolean {
    return this.#queued.restore(key, json) || this.#deadLetters.restore(key, json);
  }

  /** Call it after the last stored entry. Notifications of removed receivers become dead letters. */
  restored(nowMs: number): void {
    for (const [key, notification] of this.#queued.all()) {
      this.#sequence = Math.max(this.#sequence, Number(key) + 1);
      if (this.#receivers.has(notification.receiver)) {
        this.#countQueued(notification, 1);
        this.#added.push([key, notification]);
      } else {
        this.#queued.delete(key);
        this.#bury(notification, RECEIVER_REMOVED, nowMs);
      }
    }
    this.#added.sort(([one], [other]) => (one < other ? -1 : 1));
  }

  /** Returns what was queued since the last call, with its key, in the order of sending. */
  drainAdded(): readonly (readonly [string, Notification])[] {
    const added = this.#added;
    this.#added = [];
    return added;
  }

  get deadLetterCount(): number {
    return this.#deadLetters.size;
  }

  /** The oldest first. */
  deadLetters(): readonly AlertDeadLetter[] {
    return [...this.#deadLetters.values()].sort((one, other) => one.atMs - other.atMs);
  }

  /** Queues notices, in as many messages as it takes. */
  addAll({ notices, ...message }: Omit<Notification, 'id'>): void {
    let [first, characters] = [0, 0];
    for (const [at, notice] of notices.entries()) {
      const more = JSON.stringify(notice).length;
      if (at - first >= NOTICES_MAX || (at > first && characters + more > NOTICES_CHARACTERS_MAX)) {
        this.add(identify({ ...message, notices: notices.slice(first, at) }));
        [first, characters] = [at, 0];
      }
      characters += more;
    }
    this.add(identify({ ...message, notices: notices.slice(first) }));
  }

  add(notification: Notification): void {
    const { receiver, createdAtMs } = notification;
    // An event that is still open was sent to it before the routes file changed.
    if (!this.#receivers.has(receiver)) {
      this.#bury(notification, RECEIVER_REMOVED, createdAtMs);
      return;
    }
    if ((this.#queuedOf.get(receiver) ?? 0) >= QUEUED_MAX) {
      const detail = `${QUEUED_MAX} notifications wait for ${receiver}`;
      this.#bury(notification, { reason: 'queue-full', detail }, createdAtMs);
      return;
    }
    const key = String(this.#sequence++).padStart(SEQUENCE_DIGITS, '0');
    this.#queued.set(key, notification);
    this.#added.push([key, notification]);
    this.#countQueued(notification, 1);
  }

  accepted(key: string): void {
    const notification = this.#pop(key);
    if (notification !== undefined) this.#settle({ notification, death: null });
  }

  /** Keeps the addresses in `to`; those in `refused` become dead letters of their own. */
  narrowed(
    key: string,
    { to, refused }: { to: readonly string[]; refused: readonly { address: string; detail: string }[] },
    nowMs: number,
  ): void {
    const notification = this.#queued.get(key);
    if (notification === undefined) return;
    for (const { address, detail } of refused) {
      this.#bury({ ...notification, to: [address] }, { reason: 'refused', detail }, nowMs);
    }
    if (to.length === 0) this.accepted(key);
    else this.#queued.set(key, { ...notification, to });
  }

  /** Returns what was accepted or became a dead letter since the last call. */
  drainSettled(): readonly SettledNotification[] {
    const settled = this.#settled;
    this.#settled = [];
    return settled;
  }

  #settle(settled: SettledNotification): void {
    this.#settled.push(settled);
    if (this.#settled.length > SETTLED_MAX) this.#settled.shift();
  }

  failed(key: string, death: AlertDeath, nowMs: number): void {
    const notification = this.#pop(key);
    if (notification !== undefined) this.#bury(notification, death, nowMs);
  }

  /**
   * Queues the dead letters again, the oldest first. A notice that something is open is omitted unless its key is
   * in `open`; without a notice the dead letter is removed. Returns how many were queued.
   */
  redeliver(open: ReadonlySet<string>, nowMs: number): number {
    let count = 0;
    for (const { notification } of this.deadLetters()) {
      if (!this.#receivers.has(notification.receiver)) continue;
      this.#deadLetters.delete(deadLetterKey(notification));
      const notices = notification.notices.filter((notice) => notice.type === 'closed' || open.has(dedupKeyOf(notice)));
      if (notices.length === 0) continue;
      this.add({ ...notification, notices, createdAtMs: nowMs });
      count++;
    }
    return count;
  }

  #pop(key: string): Notification | undefined {
    const notification = this.#queued.get(key);
    if (notification === undefined) return undefined;
    this.#queued.delete(key);
    this.#countQueued(notification, -1);
    return notification;
  }

  #countQueued({ receiver }: Notification, change: 1 | -1): void {
    this.#queuedOf.set(receiver, (this.#queuedOf.get(receiver) ?? 0) + change);
  }

  #bury(notification: Notification, { reason, detail }: AlertDeath, atMs: number): void {
    this.#deadLetters.set(deadLetterKey(notification), { notification, reason, detail, atMs });
    this.#settle({ notification, death: { reason, detail } });
    if (this.#deadLetters.size <= DEAD_LETTERS_MAX) return;
    const [oldest] = this.deadLetters();
    this.#deadLetters.delete(deadLetterKey(oldest.notification));
  }
}

/** Each refused address of a mail has a dead letter of its own. */
function deadLetterKey({ id, to = [] }: Notification): string {
  return [id, ...to].join('/');
}

interface KeptEntry {
  readonly key: string;
  /** null if it was deleted. */
  readonly json: string | null;
}

/** Returns the dead letters among stored entries, the oldest first. */
export function readDeadAlerts(entries: Iterable<KeptEntry>): readonly AlertDeadLetter[] {
  const outbox = new Outbox([], new Map());
  for (const { key, json } of entries) outbox.restore(key, json);
  return outbox.deadLetters();
}
