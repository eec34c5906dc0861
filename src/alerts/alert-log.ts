import type { AnomalyEvent } from '../record/anomaly-event.ts';
import type { EventPlace } from './state/event-place.ts';

/**
 * Where events come from and where the state of alerting is kept. One process at a time has both, by
 * `AlertLog`. Whoever takes them over reads what the one before has committed.
 */
export interface AlertLog {
  /**
   * Takes part until `stop`. `onOwner(true)` when this process becomes the one that sends, `onOwner(false)` when it is
   * not any more.
   */
  join(handlers: AlertLogHandlers): Promise<{ stop(): Promise<void> }>;
  /** Takes the state over from whoever had it. Rejects when `signal` aborts. */
  openState(signal: AbortSignal): Promise<AlertStateSession>;
  /** Follows the events from a place on; null where none was kept yet. */
  readEvents(place: EventPlace | null, handlers: EventHandlers): Promise<EventReading>;
}

export interface AlertLogHandlers {
  onOwner(owns: boolean): void;
  onConnection(error: Error | null): void;
  /** It cannot continue. */
  onFatal(error: Error): void;
}

export interface EventHandlers {
  /** Events in offset order in each partition, and where reading is after them. Awaited before the next call. */
  onEvents(events: readonly AnomalyEvent[], after: EventPlace): Promise<void>;
  onConnection(error: Error | null): void;
}

export interface EventReading {
  /** Where it began. */
  readonly begin: EventPlace;
  stop(): Promise<void>;
}

/** Ownership of the kept state. After a rejected call it is over. */
export interface AlertStateSession {
  /** Every kept entry; the newest of a key comes last. */
  load(onEntry: (key: string, json: string | null) => void): Promise<void>;
  /** All of the changes or none of them. One call at a time. Rejects where another process has taken over. */
  write(changes: ReadonlyMap<string, string | null>): Promise<void>;
  close(): Promise<void>;
}
