import type { Track } from '../changelog/changelog-series.ts';
import type { JournalEntry } from '../changelog/journal.ts';
import type { InputRecord } from '../log/log.ts';
import type { DeadLetterReason } from '../record/dead-letter.ts';
import type { RestartReason, ScoreRecord, ScoreState } from '../record/score-record.ts';

/** An observation with the record that brought it. */
export interface Arrival {
  readonly series: string;
  readonly group: string | null;
  readonly timestampMs: number;
  readonly value: number;
  readonly record: InputRecord;
}

/** What series and groups tell while they take observations. The stream writes it to Kafka, a backtest to a file. */
export interface ScoreSink {
  /** `key` is that of the input record. */
  score(score: ScoreRecord, key: Buffer | null): void;
  deadLetter(reason: DeadLetterReason, detail: string, arrival: Arrival, detector: string): void;
  duplicate(): void;
  gapFilled(): void;
  restarted(reason: RestartReason): void;
  /** A detection window of a series closed: its values and residuals are final. Read them before the next observation. */
  windowClosed(track: Track): void;
  /** The state of a series or group changes in this batch. */
  touched(unit: JournalEntry): void;
  /** Closed windows under these keys are not needed any more. */
  windowsGone(keys: readonly Buffer[]): void;
  /** A series or group was forgotten. */
  unitGone(unit: JournalEntry): void;
}

/** Observations by what became of them. */
export interface Tally {
  readonly scored: Record<ScoreState, number>;
  readonly deadLetters: Partial<Record<DeadLetterReason, number>>;
  readonly restarted: Partial<Record<RestartReason, number>>;
  flagged: number;
  duplicates: number;
  gapsFilled: number;
}

export function emptyTally(): Tally {
  return {
    scored: { 'warming-up': 0, calibrating: 0, scored: 0, 'not-forecasted': 0 },
    deadLetters: {},
    restarted: {},
    flagged: 0,
    duplicates: 0,
    gapsFilled: 0,
  };
}
