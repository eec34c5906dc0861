import type { ChangelogSeries, DeltaLogEntry, DeltaLogWrite } from '../../checkpoint/delta-log.ts';
import type { OpenPauses } from '../../checkpoint/partition-records.ts';
import type { RecordHeaders } from '../../kafka/batch/records.ts';
import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import type { DeadLetterReason } from '../../records/dead-letter.ts';
import type { Suspicion } from '../../records/diagnostics/diagnostic.ts';
import type { RestartReason, ScoreRecord } from '../../records/score-record.ts';
import type { InputRecord } from '../log/log.ts';
import type { LoadedDetector } from './loaded-detector.ts';

/** Reason why a record cannot become a score. */
export interface DeadLetterCause {
  readonly reason: DeadLetterReason;
  /** One sentence for the operator. */
  readonly detail: string;
  /** Omitted if it is not known. */
  readonly series?: string | null;
  readonly detector?: string | null;
  /** True if its series was scored before, under other settings. */
  readonly wasScored?: boolean;
  /** True if it is counted, and not written. */
  readonly isCountedOnly?: boolean;
}

/** Reason why a series or group was forgotten: to make room, or because nothing came for `idle_limit`. */
export type ForgottenReason = 'series-max' | 'idle';

/** Records that scoring writes: the stream to Kafka, a backtest to a file. */
export interface ScoreOutputs {
  /** `key` is that of the input record, and `headers` are those of it that pass on. */
  score(score: ScoreRecord, key: Buffer | null, headers?: RecordHeaders): void;
  /** A series stopped when the record at `foundAt` was there, or by the clock at `foundAt`. */
  silence(score: ScoreRecord, foundAt: number): void;
  /** A revision of an event, with the key of the scores, and the input offset that orders it among them. */
  event(event: AnomalyEvent, place: { readonly key: Buffer | null; readonly offset: number }): void;
  deadLetter(record: InputRecord, cause: DeadLetterCause): void;
}

/** Changes of the state that the next commit writes. */
export interface StateWrites {
  /**
   * A detection window of a series closed: its values and residuals are final. Read them before the next observation.
   */
  windowClosed(series: ChangelogSeries): void;
  /** Closed windows that were read before, and keys of those that are to be deleted. */
  windowsWritten(writes: readonly DeltaLogWrite[]): void;
  /** The closed windows under these keys are to be deleted. */
  windowsDeleted(keys: readonly Buffer[]): void;
  /** The open state of a series or group changed in this batch. */
  touched(unit: DeltaLogEntry): void;
  evicted(unit: DeltaLogEntry): void;
  pausesChanged(pauses: OpenPauses): void;
}

/** Outcomes of single observations that are counted. */
export interface Counters {
  /** An observation took a time step, `apartMs` after the one of its series before it; NaN for the first. */
  placed(loaded: LoadedDetector, apartMs: number, missing: number): void;
  /** Its time step was filled already; `apartMs` is null for a point of a replica that does not count. */
  duplicate(loaded: LoadedDetector, apartMs: number | null): void;
  /** Something is wrong with how a series is written; of `conflicts` a point was dropped. */
  suspect(kind: Suspicion, loaded: LoadedDetector, series: string): void;
  gapFilled(): void;
  /** A record, or a time step, without a value: it is missing, or it is the first of a counter. */
  withoutValue(): void;
  /** A series was calibrated again on so many values that it had kept. */
  backfilled(values: number): void;
}

/** Series and groups that begin, start over or end. */
export interface Lifecycle {
  restarted(reason: RestartReason): void;
  /**
   * The first record of a series since the partition was assigned. `elsewhere` is another partition of this process
   * that has the series, too.
   */
  firstSeen(series: string, record: InputRecord, elsewhere: number | null): void;
  /** A series or group was dropped: it starts over when it returns. */
  forgotten(reason: ForgottenReason): void;
  /** A series has ended, as far as is known, before it was calibrated. */
  endedEarly(loaded: LoadedDetector, series: string): void;
}

/** Place where the results of series and groups go. */
export interface ScoreSink {
  readonly outputs: ScoreOutputs;
  readonly state: StateWrites;
  readonly counters: Counters;
  readonly lifecycle: Lifecycle;
}

/** Results of a calibration on a past: there are no others. */
export interface ReplaySink {
  readonly state: Pick<StateWrites, 'windowClosed'>;
  readonly counters: Pick<Counters, 'backfilled'>;
}

const ignore = () => {};

/** For what keeps no state: a backtest. */
export const NO_STATE: StateWrites = {
  windowClosed: ignore,
  windowsWritten: ignore,
  windowsDeleted: ignore,
  touched: ignore,
  evicted: ignore,
  pausesChanged: ignore,
};
