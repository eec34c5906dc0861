import type { AnomalyEvent } from '../records/anomaly-event.ts';
import type { EventPlace } from '../records/event-place.ts';

/**
 * Where events come from, and where the state of what follows from them is kept. One process at a time has both.
 * Whoever takes them over reads what the one before has committed.
 */
export interface OwnedLog {
  /**
   * Takes part until `stop`. `onOwner(true)` when this process becomes the owner, `onOwner(false)` when it is not any
   * more.
   */
  join(handlers: OwnershipHandlers): Promise<{ stop(): Promise<void> }>;
  /** Takes the state over from whoever had it. Rejects when `signal` aborts. */
  openState(signal: AbortSignal): Promise<StateSession>;
  readonly readEvents: FollowRecords<AnomalyEvent>;
}

export interface OwnershipHandlers {
  onOwner(owns: boolean): void;
  onConnection(error: Error | null): void;
  /** It cannot continue. */
  onFatal(error: Error): void;
}

/** Follows the records of a topic from a place on; null where none was kept yet. */
export type FollowRecords<T> = (place: EventPlace | null, handlers: RecordHandlers<T>) => Promise<RecordReading>;

export interface RecordHandlers<T> {
  /** In offset order in each partition, and where reading is after them. Awaited before the next call. */
  onRecords(records: readonly T[], after: EventPlace): Promise<void>;
  onConnection(error: Error | null): void;
}

export interface RecordReading {
  /** Where it began. */
  readonly begin: EventPlace;
  stop(): Promise<void>;
}

/** A record that follows from the events. */
export interface FollowingRecord {
  readonly key: string;
  readonly value: Buffer;
}

/** Ownership of the kept state. After a rejected call it is over. */
export interface StateSession {
  /** Every kept entry; the newest of a key comes last. */
  load(onEntry: (key: string, json: string | null) => void): Promise<void>;
  /**
   * All of the changes, and of the records that follow, or none of them. One call at a time. Rejects where another
   * process has taken over.
   */
  write(changes: ReadonlyMap<string, string | null>, following?: readonly FollowingRecord[]): Promise<void>;
  close(): Promise<void>;
}
