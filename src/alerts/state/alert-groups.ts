import { Entries, type StateChanges } from '../../singleton/entries.ts';
import type { AlertGroup } from './alert.ts';

/** A message whose time has come. */
export interface DueGroup extends AlertGroup {
  readonly alerts: readonly string[];
}

/** Messages that are being collected. Which alerts wait for them is part of the alerts, and only indexed here. */
export class AlertGroups {
  readonly #groups: Entries<AlertGroup>;
  readonly #waiting = new Map<string, Set<string>>();

  constructor(changes: StateChanges) {
    this.#groups = new Entries('group/', changes);
  }

  restore(key: string, json: string | null): boolean {
    return this.#groups.restore(key, json);
  }

  /** The alert goes into the next message of the group. */
  index(group: string, alert: string): void {
    const alerts = this.#waiting.get(group) ?? new Set();
    this.#waiting.set(group, alerts.add(alert));
  }

  /** Begins a message of the group, unless one is being collected. */
  begin(group: string, message: AlertGroup): void {
    if (this.#groups.get(group) === undefined) this.#groups.set(group, message);
  }

  popDue(nowMs: number): DueGroup[] {
    const due: DueGroup[] = [];
    for (const [key, group] of this.#groups.all()) {
      if (group.flushAtMs > nowMs) continue;
      due.push({ ...group, alerts: [...(this.#waiting.get(key) ?? [])] });
      this.#groups.delete(key);
      this.#waiting.delete(key);
    }
    return due;
  }
}
