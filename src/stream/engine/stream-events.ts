import type { Tally } from './batch-outcome.ts';

/** What the engine tells about its work; the worker turns it into metrics. */
export interface StreamEvents {
  /** Records became scores or dead letters; not committed yet. */
  scored(partition: number, records: number, tally: Tally): void;
  committed(partition: number, commit: { readonly records: number; readonly seconds: number }): void;
  restored(partition: number, restore: { readonly units: number; readonly seconds: number }): void;
  /** Held by the partition now. */
  holding(
    partition: number,
    held: { readonly units: number; readonly queuedRecords: number; readonly journalBytes: number },
  ): void;
  paused(partition: number, paused: boolean): void;
  /** The partition's task gave up its state and begins again after `delayMs`. */
  retrying(partition: number, error: Error, delayMs: number): void;
  /** Series that start over since the changelog holds them under other settings. */
  settingsChanged(partition: number, units: number): void;
}
