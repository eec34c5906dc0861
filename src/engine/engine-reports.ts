import type { Diagnostic } from '../records/diagnostics/diagnostic.ts';
import type { Tally } from './commit/tally.ts';
import type { SkippedRange } from './log/log.ts';

interface CommittedRecords {
  readonly records: number;
  readonly seconds: number;
  readonly nextOffset: number;
  /** Event time of the newest observation that was scored; null without any. */
  readonly newestEventMs: number | null;
  /** Series and groups that wait for their backfill after it. */
  readonly backfills: number;
  /** Diagnostics on the newest records; null before these were judged. */
  readonly diagnostics: readonly Diagnostic[] | null;
}

/** Outcome of a history in one partition. */
export interface WarmStarted {
  readonly source: string;
  /** Series and groups that begin with it. */
  readonly units: number;
  readonly observations: number;
  /** Observations of the time that the input covers itself. */
  readonly leftToInput: number;
  /** By reason, as of dead letters. */
  readonly refused: Readonly<Record<string, number>>;
}

/** Reports of the engine, which the worker turns into metrics and log lines. */
export interface EngineReports {
  /** A transaction was committed; `tally` is what became of its records. */
  committed(partition: number, commit: CommittedRecords, tally: Tally): void;
  /** The share of the changelog that a restore has read. */
  restoring(partition: number, share: number): void;
  /** `backfills` is how many series and groups wait for their backfill. */
  restored(
    partition: number,
    restore: { readonly units: number; readonly seconds: number; readonly backfills: number },
  ): void;
  holding(
    partition: number,
    held: {
      readonly units: number;
      readonly queuedRecords: number;
      readonly deltaLogBytes: number;
      readonly stateBytes: number;
    },
  ): void;
  paused(partition: number, paused: boolean): void;
  /** Scoring a record failed with an unexpected error, also alone. It becomes a dead letter. */
  recordFailed(partition: number, offset: number, error: Error): void;
  /** The partition task discarded its state after an error. It restores after `delayMs`. */
  retrying(partition: number, error: Error, delayMs: number): void;
  /** The transactions of the partition make no progress (`error`), or do again (null). */
  stalled(partition: number, error: Error | null): void;
  /**
   * Reading continues at `offset`, where the state ends: the consumer group has lost its offset, or has the older one
   * `committedOffset`.
   */
  resumedFromState(
    partition: number,
    resume: { readonly offset: number; readonly committedOffset: number | null },
  ): void;
  /** The consumer group's offset is ahead of the state: these offsets are not scored. */
  recordsSkipped(partition: number, skipped: SkippedRange): void;
  /** The input, or the changelog while a worker ran, was deleted and created again. These units start over. */
  topicRecreated(partition: number, units: number): void;
  /** Series and groups whose state was made with other settings or another model. */
  settingsChanged(partition: number, units: number): void;
  /** Times have no zone, and `input.time_zone` names no clock: they are read as UTC. */
  timesWithoutZone(): void;
  /** Series without a state begin with a history. */
  warmStarted(partition: number, started: WarmStarted): void;
}
