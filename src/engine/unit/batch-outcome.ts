import type { FoundSilence } from '../../checkpoint/arrival-state.ts';
import type { ChangelogSeries } from '../../checkpoint/changelog-series.ts';
import type { JournalEntry, JournalWrite } from '../../checkpoint/journal.ts';
import type { OpenPauses } from '../../checkpoint/open-pauses.ts';
import type { RecordHeaders } from '../../kafka/batch/records.ts';
import { type AnomalyEvent, EVENT_TYPES, type EventType } from '../../records/anomaly-event.ts';
import type { DeadLetterReason } from '../../records/dead-letter.ts';
import type { Suspicion } from '../../records/diagnostics/finding.ts';
import { InputCounts } from '../../records/diagnostics/input-watch.ts';
import type { PointExtras } from '../../records/point-extras.ts';
import type { RestartReason, ScoreRecord, ScoreState } from '../../records/score-record.ts';
import type { InputRecord } from '../log/log.ts';
import type { BoundDetector } from './bound-detector.ts';
import type { MisplacedSeries } from './misplaced-series.ts';

/** An observation and the input record it was decoded from. */
export interface ReceivedObservation {
  readonly series: string;
  /** As in `DecodedObservation`. */
  readonly source?: string | undefined;
  readonly group: string | null;
  readonly timestampMs: number;
  readonly value: number;
  readonly extras?: PointExtras | undefined;
  readonly record: InputRecord;
  /** Set where this is no observation, but reports that the series was silent until `timestampMs`. */
  readonly silence?: FoundSilence | undefined;
  /** Set where it is what so many points of a time step came to; `record` is the last of theirs, without its value. */
  readonly points?: number;
}

/** With the detector that takes it. */
export type RoutedObservation = ReceivedObservation & {
  readonly bound: BoundDetector;
  /** As in `DecodedObservation`. */
  readonly laterMs?: number | undefined;
};

/** Why a record cannot become a score. */
export interface DeadLetterCause {
  readonly reason: DeadLetterReason;
  /** One sentence for the operator. */
  readonly detail: string;
  /** Left out where it is not known. */
  readonly series?: string | null;
  readonly detector?: string | null;
  /** Whether its series was scored before, under other settings. */
  readonly wasScored?: boolean;
  /** Whether it is counted, and not written. */
  readonly isCountedOnly?: boolean;
}

/** Why a series or group was forgotten: to make room, or because nothing came for `idle_limit`. */
export type ForgottenReason = 'series-max' | 'idle';

/** Receives the results of series and groups. The stream writes them to Kafka, a backtest to a file. */
export interface ScoreSink {
  /** `key` is that of the input record, and `headers` are those of it that pass on. */
  score(score: ScoreRecord, key: Buffer | null, headers?: RecordHeaders): void;
  /** A series stopped when the record at `foundAt` was there, or by the clock at `foundAt`. */
  silence(score: ScoreRecord, foundAt: number): void;
  /** A revision of an event, with the key of the scores, and the input offset that orders it among them. */
  event(event: AnomalyEvent, place: { readonly key: Buffer | null; readonly offset: number }): void;
  /** The pauses of detectors that go on now. */
  pausesChanged(pauses: OpenPauses): void;
  deadLetter(record: InputRecord, cause: DeadLetterCause): void;
  /** An observation took a time step, `apartMs` after the one of its series before it; NaN for the first. */
  placed(bound: BoundDetector, apartMs: number, missing: number): void;
  /** Its time step was taken already; `apartMs` is null for a point of a replica that does not count. */
  duplicate(bound: BoundDetector, apartMs: number | null): void;
  /** Something is wrong with how a series is written; of `conflicts` a point was dropped. */
  suspect(kind: Suspicion, bound: BoundDetector, series: string): void;
  gapFilled(): void;
  /** A record, or a time step, that says nothing: its value is missing, or it is the first of a counter. */
  withoutValue(): void;
  restarted(reason: RestartReason): void;
  /**
   * The first record of a series since the partition was taken over. `elsewhere` is another partition of this process
   * that has the series, too.
   */
  met(series: string, record: InputRecord, elsewhere: number | null): void;
  /** A series or group was forgotten: it begins anew when it returns. */
  forgotten(reason: ForgottenReason): void;
  /** A series has ended, as far as is known, before it was calibrated. */
  endedYoung(bound: BoundDetector, series: string): void;
  /** A series was calibrated again on so many values that it had kept. */
  backfilled(values: number): void;
  /**
   * A detection window of a series closed: its values and residuals are final. Read them before the next observation.
   */
  windowClosed(series: ChangelogSeries): void;
  /** Closed windows that were read before, and keys of those that are to be deleted. */
  windowsWritten(writes: readonly JournalWrite[]): void;
  /** The open state of a series or group changed in this batch. */
  touched(unit: JournalEntry): void;
  /** The closed windows under these keys are to be deleted from the changelog. */
  windowsDeleted(keys: readonly Buffer[]): void;
  /** The state of a series or group is to be deleted from the changelog. */
  evicted(unit: JournalEntry): void;
}

/** What comes of values that calibrate and are not scored. */
export type ReplaySink = Pick<ScoreSink, 'windowClosed' | 'backfilled'>;

/** Observations counted by outcome. */
export interface Tally {
  readonly scored: Record<ScoreState, number>;
  readonly events: Record<EventType, number>;
  readonly deadLetters: Partial<Record<DeadLetterReason, number>>;
  /** The first of each reason. */
  readonly firstLetters: Map<DeadLetterReason, { readonly offset: number; readonly detail: string }>;
  readonly restarted: Partial<Record<RestartReason, number>>;
  readonly forgotten: Record<ForgottenReason, number>;
  readonly misplaced: MisplacedSeries[];
  readonly input: InputCounts;
  readonly suspect: (kind: Suspicion, detector: string, series: string) => void;
  flagged: number;
  alarms: number;
  duplicates: number;
  gapsFilled: number;
  /** Records and time steps that say nothing. */
  withoutValue: number;
  /** Series that were calibrated again on the values that they had kept. */
  backfilled: number;
  /** Points of records that hold many. */
  readonly points: { accepted: number; unwatched: number; refused: number };
  /** Input offsets that cannot be read any more. */
  skippedOffsets: number;
  skippedRanges: number;
}

export function emptyTally(): Tally {
  const input = new InputCounts();
  return {
    scored: { 'warming-up': 0, calibrating: 0, scored: 0, 'not-forecasted': 0, silent: 0, returned: 0 },
    events: Object.fromEntries(EVENT_TYPES.map((type) => [type, 0])) as Record<EventType, number>,
    deadLetters: {},
    firstLetters: new Map(),
    restarted: {},
    forgotten: { 'series-max': 0, idle: 0 },
    misplaced: [],
    input,
    suspect(kind, detector, series) {
      if (kind === 'conflicts') this.duplicates++;
      input.suspect(kind, detector, [series]);
    },
    flagged: 0,
    alarms: 0,
    duplicates: 0,
    gapsFilled: 0,
    withoutValue: 0,
    backfilled: 0,
    points: { accepted: 0, unwatched: 0, refused: 0 },
    skippedOffsets: 0,
    skippedRanges: 0,
  };
}
