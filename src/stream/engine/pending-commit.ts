import type { Topics } from '../../config/config.ts';
import type { Track } from '../changelog/changelog-series.ts';
import type { Journal, JournalEntry } from '../changelog/journal.ts';
import { closedWindowKey, writeClosedWindow } from '../changelog/series-state.ts';
import { StateWriter } from '../changelog/state-bytes.ts';
import { deadLetterHeaders, encodeDeadLetter } from '../codec/dead-letter-json.ts';
import type { EncodeScore } from '../codec/score-encoder.ts';
import type { InputRecord, OutputRecord } from '../log/log.ts';
import type { DeadLetter, DeadLetterReason } from '../record/dead-letter.ts';
import type { InputPlace, RestartReason, ScoreRecord } from '../record/score-record.ts';
import { type Arrival, emptyTally, type ScoreSink, type Tally } from './batch-outcome.ts';

export interface CommitFormat {
  readonly place: InputPlace;
  readonly topics: Topics;
  readonly encodeScore: EncodeScore;
}

/** Dead letters are few, and read by humans: one partition, whatever the input has. */
const DEAD_LETTER_PARTITION = 0;

interface Published extends OutputRecord {
  readonly offset: number;
}

/** What the next transaction writes: scores in the order of the input, dead letters, and the changelog. */
export class PendingCommit implements ScoreSink {
  readonly #format: CommitFormat;
  readonly #nowMs: () => number;
  readonly #writer = new StateWriter();
  #published: Published[] = [];
  #ordered = true;
  #changelog: OutputRecord[] = [];
  readonly #touched = new Set<JournalEntry>();
  #gone: JournalEntry[] = [];
  #tally = emptyTally();
  records = 0;
  nextOffset = 0;

  constructor(format: CommitFormat, nowMs: () => number) {
    this.#format = format;
    this.#nowMs = nowMs;
  }

  /** Input records that are done with, whatever became of them. */
  consumed(records: readonly InputRecord[]): void {
    this.records += records.length;
    this.nextOffset = records.at(-1)!.offset + 1;
  }

  /** What became of the observations since the last call. */
  takeTally(): Tally {
    const tally = this.#tally;
    this.#tally = emptyTally();
    return tally;
  }

  score(score: ScoreRecord, key: Buffer | null): void {
    this.#tally.scored[score.state]++;
    if (score.anomaly) this.#tally.flagged++;
    this.#publish({
      topic: this.#format.topics.scores,
      partition: score.input.partition,
      key,
      value: this.#format.encodeScore(score),
      offset: score.input.offset,
    });
  }

  deadLetter(reason: DeadLetterReason, detail: string, arrival: Arrival, detector: string): void {
    this.setAside(arrival.record, reason, detail, arrival.series, detector);
  }

  /** A record that is no observation, or one that nobody may score. */
  setAside(
    record: InputRecord,
    reason: DeadLetterReason,
    detail: string,
    series: string | null,
    detector: string | null,
  ): void {
    this.#tally.deadLetters[reason] = (this.#tally.deadLetters[reason] ?? 0) + 1;
    const { key, value, offset, timestampMs } = record;
    const input = { ...this.#format.place, offset, timestampMs };
    const letter: DeadLetter = { reason, detail, input, key, value, series, detector, atMs: this.#nowMs() };
    const headers = deadLetterHeaders(letter);
    const { deadLetters: topic } = this.#format.topics;
    this.#publish({
      topic,
      partition: DEAD_LETTER_PARTITION,
      key: null,
      value: encodeDeadLetter(letter),
      headers,
      offset,
    });
  }

  duplicate(): void {
    this.#tally.duplicates++;
  }

  gapFilled(): void {
    this.#tally.gapsFilled++;
  }

  restarted(reason: RestartReason): void {
    this.#tally.restarted[reason] = (this.#tally.restarted[reason] ?? 0) + 1;
  }

  windowClosed(track: Track): void {
    writeClosedWindow(this.#writer, track);
    this.writeState(closedWindowKey(track), this.#writer.take());
  }

  touched(unit: JournalEntry): void {
    this.#touched.add(unit);
  }

  windowsGone(keys: readonly Buffer[]): void {
    for (const key of keys) this.writeState(key, null);
  }

  unitGone(unit: JournalEntry): void {
    this.#touched.delete(unit);
    this.#gone.push(unit);
  }

  /** One record of the changelog. */
  writeState(key: Buffer, value: Buffer | null): void {
    this.#changelog.push({ topic: this.#format.topics.changelog, partition: this.#format.place.partition, key, value });
  }

  /** Everything that the transaction writes; call it once. */
  outputs(journal: Journal): readonly OutputRecord[] {
    for (const unit of this.#gone) journal.forget(unit);
    const goneKeys = this.#gone.map(({ key }) => key);
    for (const { key, value } of journal.write(this.#touched, goneKeys)) this.writeState(key, value);
    if (!this.#ordered) this.#published.sort((a, b) => a.offset - b.offset);
    return [...this.#published, ...this.#changelog];
  }

  #publish(output: Published): void {
    if (this.#published.length > 0 && this.#published.at(-1)!.offset > output.offset) this.#ordered = false;
    this.#published.push(output);
  }
}
