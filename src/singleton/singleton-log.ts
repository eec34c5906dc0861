import type { AnomalyEvent } from '../records/anomaly-event.ts';
import type { EventPlace } from './event-place.ts';

/**
 * Source of events, and storage of the state that follows from them. One process at a time is active. The next one
 * reads what the previous one committed.
 */
export interface SingletonLog {
  /**
   * Competes until `stop`. Calls `onActive(true)` when this process becomes active, `onActive(false)` when another one
   * replaces it.
   */
  join(handlers: SingletonHandlers): Promise<{ stop(): Promise<void> }>;
  /** Opens the state and fences the previous process. Rejects when `signal` aborts. */
  openState(signal: AbortSignal): Promise<StateSession>;
  readonly readEvents: FollowRecords<AnomalyEvent>;
}

export interface SingletonHandlers {
  onActive(owns: boolean): void;
  onConnection(error: Error | null): void;
  /** The process cannot continue. */
  onFatal(error: Error): void;
}

/** Follows the records of a topic from a place on; null without a stored place. */
export type FollowRecords<T> = (place: EventPlace | null, handlers: RecordHandlers<T>) => Promise<RecordReading>;

export interface RecordHandlers<T> {
  /** Takes records in offset order of each partition, and the place after them. Awaited before the next call. */
  onRecords(records: readonly T[], after: EventPlace): Promise<void>;
  onConnection(error: Error | null): void;
}

export interface RecordReading {
  readonly begin: EventPlace;
  stop(): Promise<void>;
}

export interface FollowingRecord {
  readonly key: string;
  readonly value: Buffer;
}

/** Access to the stored state. It ends with a rejected call. */
export interface StateSession {
  /** Reads every stored entry; the newest of a key comes last. */
  load(onEntry: (key: string, json: string | null) => void): Promise<void>;
  /**
   * Writes all of the changes and of the records that follow, or none of them. One call at a time. Rejects if another
   * process has replaced this one.
   */
  write(changes: ReadonlyMap<string, string | null>, following?: readonly FollowingRecord[]): Promise<void>;
  close(): Promise<void>;
}
