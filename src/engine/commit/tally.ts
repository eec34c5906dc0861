import type { RecordMapping } from '../../config/config.ts';
import { type AnomalyEvent, EVENT_TYPES, type EventType } from '../../records/anomaly-event.ts';
import type { DeadLetterReason } from '../../records/dead-letter.ts';
import type { Suspicion } from '../../records/diagnostics/diagnostic.ts';
import { InputCounts } from '../../records/diagnostics/input-watch.ts';
import type { RestartReason, ScoreRecord, ScoreState } from '../../records/score-record.ts';
import type { InputRecord } from '../log/log.ts';
import type { LoadedDetector } from '../unit/loaded-detector.ts';
import type { Counters, DeadLetterCause, ForgottenReason, Lifecycle } from '../unit/score-sink.ts';

/**
 * Why records of a series may be in several partitions, where each would be scored without the others:
 * - `null-key`: a record without a key goes to any partition
 * - `other-key`: its key is not the series, although the detectors file does not declare that keys are something else
 * - `two-partitions`: another partition of this worker has the series, too
 */
type MisplacedReason = 'null-key' | 'other-key' | 'two-partitions';

export interface MisplacedSeries {
  readonly series: string;
  readonly reason: MisplacedReason;
  /** One sentence for the operator. */
  readonly detail: string;
}

export interface Tally {
  readonly scored: Record<ScoreState, number>;
  readonly events: Record<EventType, number>;
  readonly deadLetters: Partial<Record<DeadLetterReason, number>>;
  readonly firstLetters: Map<DeadLetterReason, { readonly offset: number; readonly detail: string }>;
  readonly restarted: Partial<Record<RestartReason, number>>;
  readonly forgotten: Record<ForgottenReason, number>;
  readonly misplaced: MisplacedSeries[];
  readonly input: InputCounts;
  flagged: number;
  alarms: number;
  duplicates: number;
  gapsFilled: number;
  /** Records and time steps without a value. */
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
  return {
    scored: { 'warming-up': 0, calibrating: 0, scored: 0, 'not-forecasted': 0, silent: 0, returned: 0 },
    events: Object.fromEntries(EVENT_TYPES.map((type) => [type, 0])) as Record<EventType, number>,
    deadLetters: {},
    firstLetters: new Map(),
    restarted: {},
    forgotten: { 'series-max': 0, idle: 0 },
    misplaced: [],
    input: new InputCounts(),
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

/** Counts outcomes of observations, and of the records that are written. */
export class TallyCounts implements Counters, Lifecycle {
  tally = emptyTally();
  readonly #keyedBy: RecordMapping['keyedBy'];

  /** @param keyedBy what the keys of the input are */
  constructor(keyedBy: RecordMapping['keyedBy'] = 'series') {
    this.#keyedBy = keyedBy;
  }

  /** Returns the outcomes since the last call. */
  drain(): Tally {
    const { tally } = this;
    this.tally = emptyTally();
    return tally;
  }

  score({ state, anomaly, alarm }: Pick<ScoreRecord, 'state' | 'anomaly' | 'alarm'>): void {
    this.tally.scored[state]++;
    if (anomaly) this.tally.flagged++;
    if (alarm) this.tally.alarms++;
  }

  event({ type }: AnomalyEvent): void {
    this.tally.events[type]++;
  }

  deadLetter({ offset, skipped }: InputRecord, { reason, detail, isCountedOnly = false }: DeadLetterCause): void {
    const { deadLetters, firstLetters } = this.tally;
    deadLetters[reason] = (deadLetters[reason] ?? 0) + 1;
    if (isCountedOnly) return;
    if (!firstLetters.has(reason)) firstLetters.set(reason, { offset, detail });
    if (skipped === undefined) return;
    this.tally.skippedRanges++;
    this.tally.skippedOffsets += skipped.last - skipped.first + 1;
  }

  placed({ config }: LoadedDetector, apartMs: number, missing: number): void {
    this.tally.input.of(config.name, config.settings.freq).accept(apartMs, missing);
  }

  duplicate({ config }: LoadedDetector, apartMs: number | null): void {
    this.tally.duplicates++;
    if (apartMs !== null) this.tally.input.of(config.name, config.settings.freq).repeat(apartMs);
  }

  suspect(kind: Suspicion, { config }: LoadedDetector, series: string): void {
    if (kind === 'conflicts') this.tally.duplicates++;
    this.tally.input.suspect(kind, config.name, [series]);
  }

  gapFilled(): void {
    this.tally.gapsFilled++;
  }

  withoutValue(): void {
    this.tally.withoutValue++;
  }

  backfilled(): void {
    this.tally.backfilled++;
  }

  restarted(reason: RestartReason): void {
    this.tally.restarted[reason] = (this.tally.restarted[reason] ?? 0) + 1;
  }

  firstSeen(series: string, record: InputRecord, elsewhere: number | null): void {
    const misplaced = whyMisplaced(series, record, { elsewhere, keyedBy: this.#keyedBy });
    if (misplaced !== null) this.tally.misplaced.push(misplaced);
  }

  forgotten(reason: ForgottenReason): void {
    this.tally.forgotten[reason]++;
  }

  endedEarly({ config }: LoadedDetector, series: string): void {
    this.tally.input.endShortLived(config.name, series);
  }
}

/**
 * What is wrong with the place of a series, by its first record since the partition was taken over; null for nothing.
 * @param elsewhere another partition of this worker that has the series
 */
function whyMisplaced(
  series: string,
  { key, partition }: Pick<InputRecord, 'key' | 'partition'>,
  { elsewhere, keyedBy }: { readonly elsewhere: number | null; readonly keyedBy: RecordMapping['keyedBy'] },
): MisplacedSeries | null {
  if (elsewhere !== null) {
    const detail = `its records are in partitions ${elsewhere} and ${partition}, which score them apart`;
    return { series, reason: 'two-partitions', detail };
  }
  if (key === null) {
    const detail = 'its record has no key, so that the next one may be in another partition';
    return { series, reason: 'null-key', detail };
  }
  if (keyedBy === 'other' || key.toString() === series) return null;
  const quoted = JSON.stringify(key.toString('utf8', 0, 200));
  const remedy = 'if all of its records have the same key, set "key: other" under input';
  return { series, reason: 'other-key', detail: `the key of its record is ${quoted}, not the series: ${remedy}` };
}
