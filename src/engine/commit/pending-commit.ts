import type { DeltaLog } from '../../checkpoint/delta-log.ts';
import type { WatermarkState } from '../../checkpoint/partition-records.ts';
import { deadLetterHeaders, encodeDeadLetter } from '../../codecs/dead-letter-json.ts';
import type { EncodeEvent } from '../../codecs/event-codec.ts';
import type { PointRecords } from '../../codecs/points/point-records.ts';
import type { EncodeScore } from '../../codecs/score-encoder.ts';
import type { OutputSettings, RecordMapping, Topics } from '../../config/config.ts';
import type { RecordHeaders } from '../../kafka/batch/records.ts';
import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import type { DeadLetter } from '../../records/dead-letter.ts';
import { type InputPlace, inputAt, type ScoreRecord } from '../../records/score-record.ts';
import type { InputRecord, OutputRecord } from '../log/log.ts';
import type { DeadLetterCause, ScoreOutputs, ScoreSink } from '../unit/score-sink.ts';
import { CheckpointWrites } from './checkpoint-writes.ts';
import { TallyCounts } from './tally.ts';

export interface CommitFormat {
  readonly place: InputPlace;
  readonly topics: Topics;
  readonly encodeScore: EncodeScore;
  readonly encodeEvent: EncodeEvent;
  readonly timestamps: OutputSettings['timestamps'];
  /** Meaning of the keys of the input; the series by default. */
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

/** The records of the next transaction: scores and events in input order, dead letters, and the state. */
export class PendingCommit implements ScoreSink, ScoreOutputs {
  readonly #format: CommitFormat;
  readonly #nowMs: () => number;
  readonly outputs = this;
  readonly state: CheckpointWrites;
  readonly counters: TallyCounts;
  readonly lifecycle: TallyCounts;
  #published: Published[] = [];
  #ordered = true;
  #newestNowMs = Number.NEGATIVE_INFINITY;
  /** Event time of the partition after the records so far. */
  watermark: WatermarkState | null = null;
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
    this.state = new CheckpointWrites({ topic: format.topics.changelog, partition: format.place.partition });
    this.counters = new TallyCounts(format.keyedBy);
    this.lifecycle = this.counters;
  }

  /** True if there is something to commit: offsets, or a change of the state. */
  get isDue(): boolean {
    return this.#hasOffsets || this.state.any;
  }

  /** Records that it writes, without those of the state. */
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

  score(score: ScoreRecord, key: Buffer | null, headers?: RecordHeaders): void {
    this.counters.score(score);
    if (this.newestEventMs === null || score.timestampMs > this.newestEventMs) this.newestEventMs = score.timestampMs;
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

  /** Counts the points of a record by outcome. */
  pointsTaken({ records, unwatched, refused }: PointRecords): void {
    const { points } = this.counters.tally;
    points.accepted += records.length;
    points.unwatched += unwatched;
    points.refused += refused;
  }

  silence(score: ScoreRecord, foundAt: number): void {
    this.counters.score(score);
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
    this.counters.event(event);
    const { topics, place, encodeEvent } = this.#format;
    const [{ partition }, value] = [place, encodeEvent(event)];
    this.#publish({ topic: topics.events, partition, key, value, offset, ...this.#timestamp(event.updatedAtMs) });
  }

  deadLetter(record: InputRecord, cause: DeadLetterCause): void {
    const { reason, detail, series = null, detector = null, isCountedOnly = false } = cause;
    this.counters.tally.input.drop(cause);
    this.counters.deadLetter(record, cause);
    if (isCountedOnly) return;
    const { key, value, offset, timestampMs, skipped } = record;
    const { place, topics } = this.#format;
    const range = skipped && { ...place, offset: skipped.first, lastOffset: skipped.last };
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

  /**
   * Every record that the transaction writes. Call it once: it holds none of them any more.
   * @param clock the event time of the partition now; a backfill alone does not have it
   */
  drain(
    deltaLog: DeltaLog,
    topicId: string | null,
    watermark: WatermarkState | null = this.watermark,
  ): readonly OutputRecord[] {
    if (!this.#ordered) this.#published.sort(byPlace);
    const outputs = [
      ...this.#published,
      ...this.state.drain(deltaLog, { nextOffset: this.nextOffset, topicId, watermark }),
    ];
    this.#published = [];
    return outputs;
  }

  #publish(output: Published): void {
    if ((this.#published.at(-1)?.offset ?? -1) > output.offset) this.#ordered = false;
    this.#published.push(output);
  }
}
