import type { ChangelogSeries } from '../../checkpoint/changelog-series.ts';
import type { Journal, JournalEntry, JournalWrite } from '../../checkpoint/journal.ts';
import { encodePauses, type OpenPauses, PAUSES_KEY } from '../../checkpoint/open-pauses.ts';
import { closedWindowRecord } from '../../checkpoint/series-state.ts';
import { type ClockState, encodePosition, POSITION_KEY } from '../../checkpoint/stored-position.ts';
import { deadLetterHeaders, encodeDeadLetter } from '../../codecs/dead-letter-json.ts';
import type { EncodeEvent } from '../../codecs/event-codec.ts';
import type { PointRecords } from '../../codecs/points/point-records.ts';
import type { EncodeScore } from '../../codecs/score-encoder.ts';
import type { OutputSettings, RecordMapping, Topics } from '../../config/config.ts';
import type { RecordHeaders } from '../../kafka/batch/records.ts';
import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import type { DeadLetter } from '../../records/dead-letter.ts';
import { type InputPlace, inputAt } from '../../records/input-place.ts';
import type { RestartReason, ScoreRecord } from '../../records/score-record.ts';
import type { InputRecord, OutputRecord } from '../log/log.ts';
import {
  type DeadLetterCause,
  emptyTally,
  type ForgottenReason,
  type ScoreSink,
  type Tally,
} from '../unit/batch-outcome.ts';
import type { BoundDetector } from '../unit/bound-detector.ts';
import { whyMisplaced } from '../unit/misplaced-series.ts';

export interface CommitFormat {
  readonly place: InputPlace;
  readonly topics: Topics;
  readonly encodeScore: EncodeScore;
  readonly encodeEvent: EncodeEvent;
  readonly timestamps: OutputSettings['timestamps'];
  /** What the keys of the input are; the series by default. */
  readonly keyedBy?: RecordMapping['keyedBy'];
}

/** The topic of dead letters has one partition: they are few. */
const DEAD_LETTER_PARTITION = 0;

interface Published extends OutputRecord {
  readonly offset: number;
  /** Orders records of one offset; only where there may be several. */
  readonly series?: string;
}

function byPlace(a: Published, b: Published): number {
  return a.offset - b.offset || (a.series === undefined || b.series === undefined ? 0 : a.series < b.series ? -1 : 1);
}

/** The records of the next transaction: scores and events in input order, dead letters, and the changelog. */
export class PendingCommit implements ScoreSink {
  readonly #format: CommitFormat;
  readonly #nowMs: () => number;
  #published: Published[] = [];
  #ordered = true;
  #changelog: OutputRecord[] = [];
  readonly #touched = new Set<JournalEntry>();
  #evicted: JournalEntry[] = [];
  #tally = emptyTally();
  #clock: ClockState | null = null;
  /** null: they have not changed. */
  #pauses: OpenPauses | null = null;
  #newestNowMs = Number.NEGATIVE_INFINITY;
  /** Event time of the newest observation among its scores; null without any. */
  newestEventMs: number | null = null;
  /** Input records that it covers. */
  records = 0;
  nextOffset: number;
  #hasOffsets = false;

  /** @param nextOffset where the commit before ended */
  constructor(format: CommitFormat, nowMs: () => number, nextOffset: number) {
    this.nextOffset = nextOffset;
    this.#format = format;
    this.#nowMs = nowMs;
  }

  /** Whether there is something to commit: offsets, what the clock decided, or a backfill. */
  get isDue(): boolean {
    return this.#hasOffsets || this.#touched.size > 0 || this.#pauses !== null;
  }

  /** Records that it writes, without those of the changelog. */
  get outputCount(): number {
    return this.#published.length;
  }

  /** These input records were processed: the commit covers them. */
  consumed(records: readonly InputRecord[]): void {
    const newest = records.at(-1);
    if (newest === undefined) return;
    this.records += records.length;
    this.nextOffset = newest.offset + 1;
    this.#hasOffsets = true;
  }

  /** The commit covers the offsets before `nextOffset`, of which some may be markers of transactions. */
  reach(nextOffset: number): void {
    if (nextOffset <= this.nextOffset) return;
    this.nextOffset = nextOffset;
    this.#hasOffsets = true;
  }

  /** The event time of the partition after what was consumed so far. */
  clockAt(clock: ClockState): void {
    this.#clock = clock;
  }

  /** Returns the outcomes since the last call. */
  takeTally(): Tally {
    const tally = this.#tally;
    this.#tally = emptyTally();
    return tally;
  }

  score(score: ScoreRecord, key: Buffer | null, headers?: RecordHeaders): void {
    this.#tally.scored[score.state]++;
    if (this.newestEventMs === null || score.timestampMs > this.newestEventMs) this.newestEventMs = score.timestampMs;
    if (score.anomaly) this.#tally.flagged++;
    if (score.alarm) this.#tally.alarms++;
    const { topics, encodeScore, timestamps, place } = this.#format;
    const { partition } = place;
    const { offset } = score.input;
    const topic = topics.scores;
    const value = encodeScore(score);
    if (timestamps === 'event-time' && headers === undefined) {
      // Nearly every record: an object that is put together of parts takes longer.
      this.#publish({ topic, partition, key, value, offset, timestampMs: this.#untilNow(score.timestampMs) });
    } else {
      const passed = headers === undefined ? {} : { headers };
      this.#publish({ topic, partition, key, value, offset, ...this.#timestamp(score.timestampMs), ...passed });
    }
  }

  /** Passes a record on, under another key. */
  forward(
    { value, offset, timestampMs, rawHeaders }: InputRecord,
    to: { readonly topic: string; readonly partition: number; readonly key: Buffer | null },
  ): void {
    const kept = { ...(timestampMs >= 0 && { timestampMs }), ...(rawHeaders && { rawHeaders }) };
    this.#publish({ ...to, ...kept, value, offset });
  }

  /** What became of the points of a record. */
  pointsTaken({ records, unwatched, refused }: PointRecords): void {
    const { points } = this.#tally;
    points.accepted += records.length;
    points.unwatched += unwatched;
    points.refused += refused;
  }

  silence(score: ScoreRecord, foundAt: number): void {
    this.#tally.scored[score.state]++;
    this.#publish({
      topic: this.#format.topics.scores,
      partition: this.#format.place.partition,
      key: Buffer.from(score.group ?? score.series),
      value: this.#format.encodeScore(score),
      // Before the score of the record that showed it.
      offset: foundAt - 0.5,
      series: score.series,
    });
    this.#ordered = false;
  }

  event(event: AnomalyEvent, { key, offset }: { readonly key: Buffer | null; readonly offset: number }): void {
    this.#tally.events[event.type]++;
    const { topics, place, encodeEvent } = this.#format;
    this.#publish({
      topic: topics.events,
      partition: place.partition,
      key,
      value: encodeEvent(event),
      offset,
      ...this.#timestamp(event.updatedAtMs),
    });
  }

  deadLetter(record: InputRecord, cause: DeadLetterCause): void {
    const { reason, detail, series = null, detector = null, isCountedOnly = false } = cause;
    this.#tally.input.drop(cause);
    this.#tally.deadLetters[reason] = (this.#tally.deadLetters[reason] ?? 0) + 1;
    if (isCountedOnly) return;
    const { key, value, offset, timestampMs, skipped } = record;
    if (!this.#tally.firstLetters.has(reason)) this.#tally.firstLetters.set(reason, { offset, detail });
    const { place, topics } = this.#format;
    const range = skipped && { ...place, offset: skipped.first, lastOffset: skipped.last };
    if (skipped !== undefined) {
      this.#tally.skippedRanges++;
      this.#tally.skippedOffsets += skipped.last - skipped.first + 1;
    }
    const input = { ...(range ?? inputAt(place, offset)), timestampMs };
    const letter: DeadLetter = { reason, detail, input, key, value, series, detector, atMs: this.#nowMs() };
    const written = { value: encodeDeadLetter(letter), headers: deadLetterHeaders(letter) };
    this.#publish({ topic: topics.deadLetters, partition: DEAD_LETTER_PARTITION, key: null, ...written, offset });
  }

  #timestamp(eventMs: number): { readonly timestampMs?: number } {
    return this.#format.timestamps === 'event-time' ? { timestampMs: this.#untilNow(eventMs) } : {};
  }

  /** Brokers refuse timestamps that are far in the future. The clock is read only where it may matter. */
  #untilNow(eventMs: number): number {
    if (eventMs > this.#newestNowMs) this.#newestNowMs = this.#nowMs();
    return Math.min(eventMs, this.#newestNowMs);
  }

  pausesChanged(pauses: OpenPauses): void {
    this.#pauses = pauses;
  }

  placed({ config }: BoundDetector, apartMs: number, missing: number): void {
    this.#tally.input.of(config.name, config.settings.freq).take(apartMs, missing);
  }

  duplicate({ config }: BoundDetector, apartMs: number | null): void {
    this.#tally.duplicates++;
    if (apartMs !== null) this.#tally.input.of(config.name, config.settings.freq).repeat(apartMs);
  }

  readonly suspect: ScoreSink['suspect'] = (kind, { config }, series) => this.#tally.suspect(kind, config.name, series);
  gapFilled(): void {
    this.#tally.gapsFilled++;
  }

  withoutValue(): void {
    this.#tally.withoutValue++;
  }

  restarted(reason: RestartReason): void {
    this.#tally.restarted[reason] = (this.#tally.restarted[reason] ?? 0) + 1;
  }

  met(series: string, record: InputRecord, elsewhere: number | null): void {
    const { keyedBy = 'series' } = this.#format;
    const misplaced = whyMisplaced(series, record, { elsewhere, keyedBy });
    if (misplaced !== null) this.#tally.misplaced.push(misplaced);
  }

  forgotten(reason: ForgottenReason): void {
    this.#tally.forgotten[reason]++;
  }

  endedYoung({ config }: BoundDetector, series: string): void {
    this.#tally.input.endYoung(config.name, series);
  }

  backfilled(): void {
    this.#tally.backfilled++;
  }

  windowsWritten(writes: readonly JournalWrite[]): void {
    for (const { key, value } of writes) this.writeState(key, value);
  }

  windowClosed(series: ChangelogSeries): void {
    const { key, value } = closedWindowRecord(series);
    this.writeState(key, value);
  }

  touched(unit: JournalEntry): void {
    this.#touched.add(unit);
  }

  windowsDeleted(keys: readonly Buffer[]): void {
    for (const key of keys) this.writeState(key, null);
  }

  evicted(unit: JournalEntry): void {
    this.#touched.delete(unit);
    this.#evicted.push(unit);
  }

  /** Adds a record of the changelog. */
  writeState(key: Buffer, value: Buffer | null): void {
    this.#changelog.push({ topic: this.#format.topics.changelog, partition: this.#format.place.partition, key, value });
  }

  /**
   * Every record that the transaction writes. Call it once: it holds none of them any more.
   * @param clock the event time of the partition now; a backfill alone does not have it
   */
  outputs(journal: Journal, topicId: string | null, clock: ClockState | null = this.#clock): readonly OutputRecord[] {
    for (const unit of this.#evicted) journal.forget(unit);
    const evictedKeys = this.#evicted.map(({ key }) => key);
    for (const { key, value } of journal.write(this.#touched, evictedKeys)) this.writeState(key, value);
    if (this.#pauses !== null) this.writeState(PAUSES_KEY, encodePauses(this.#pauses));
    this.writeState(POSITION_KEY, encodePosition({ nextOffset: this.nextOffset, topicId, clock }));
    if (!this.#ordered) this.#published.sort(byPlace);
    const outputs = [...this.#published, ...this.#changelog];
    this.#touched.clear();
    [this.#published, this.#changelog, this.#evicted] = [[], [], []];
    return outputs;
  }

  #publish(output: Published): void {
    if ((this.#published.at(-1)?.offset ?? -1) > output.offset) this.#ordered = false;
    this.#published.push(output);
  }
}
