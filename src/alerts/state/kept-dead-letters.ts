import type { AlertDeadLetter } from '../message/notification.ts';
import { Outbox } from './outbox.ts';

/** A kept entry as it was written. */
export interface KeptEntry {
  readonly key: string;
  /** null where it was deleted. */
  readonly json: string | null;
}

/** The dead letters among kept entries, the oldest first. */
export function readDeadAlerts(entries: Iterable<KeptEntry>): readonly AlertDeadLetter[] {
  const outbox = new Outbox([], new Map());
  for (const { key, json } of entries) outbox.restore(key, json);
  return outbox.deadLetters();
}
