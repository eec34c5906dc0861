import type { InputEnd, InputRecord, Subscription } from './log/log.ts';
import type { MemoryGuard } from './memory-guard.ts';

/** A partition is paused while its queue has more bytes than this, or more records than `queueRecordsMax`. */
export const QUEUE_BYTES_MAX = 32 * 1024 * 1024;

/** Interval at which a paused partition checks whether memory has become free. */
const LOOK_MS = 500;

interface PartitionInputOptions {
  readonly partition: number;
  readonly queueRecordsMax: number;
  readonly onPaused: (paused: boolean) => void;
  readonly memory: MemoryGuard;
}

/** The records of a partition that were fetched and not scored. It pauses the partition while they are too many. */
export class PartitionInput {
  readonly #options: PartitionInputOptions;
  #batches: (readonly InputRecord[])[] = [];
  /** Number of records of the first batch that were read already. */
  #read = 0;
  records = 0;
  /** Bytes of their keys and values. */
  bytes = 0;
  #subscription: Subscription | null = null;
  #paused = false;
  /** The offset behind what was delivered. */
  nextOffset = 0;
  #look: NodeJS.Timeout | undefined;

  constructor(options: PartitionInputOptions) {
    this.#options = options;
  }

  /** Time of the record that is read next; null if there is none. */
  get headMs(): number | null {
    return this.#batches[0]?.[this.#read].timestampMs ?? null;
  }

  get end(): InputEnd | null {
    return this.#subscription?.end(this.#options.partition) ?? null;
  }

  /** Forgets what was delivered before, and reads from `offset` on, of the topic with this id. */
  start(subscription: Subscription, offset: number, topicId: string | null): void {
    [this.#batches, this.#read, this.records, this.bytes] = [[], 0, 0, 0];
    this.nextOffset = offset;
    this.#subscription = subscription;
    subscription.start(this.#options.partition, offset, topicId);
    this.#pause(false);
  }

  /** Records that arrive before the start were requested by an earlier task of the partition, and are fetched again. */
  accept(records: readonly InputRecord[], nextOffset: number): void {
    if (this.#subscription === null) return;
    this.nextOffset = nextOffset;
    if (records.length > 0) this.#batches.push(records);
    this.records += records.length;
    for (const record of records) this.bytes += bytesOf(record);
    if (!this.#paused && (this.#fill > 1 || this.#options.memory.exceeded)) this.#pause(true);
  }

  /**
   * Pops the oldest records: at most `max`, and none after `bytesMax` is reached or behind one whose time is after
   * `untilMs`, but at least one when there is any. Never pops records of two batches at once.
   */
  pop(max: number, bytesMax: number, untilMs = Number.POSITIVE_INFINITY): readonly InputRecord[] {
    const [batch = []] = this.#batches;
    const last = Math.min(batch.length, this.#read + max);
    let end = this.#read;
    let bytes = 0;
    while (end < last && (end === this.#read || (bytes < bytesMax && batch[end].timestampMs <= untilMs)))
      bytes += bytesOf(batch[end++]);
    const popped = batch.slice(this.#read, end);
    this.#read = end;
    this.records -= popped.length;
    this.bytes -= bytes;
    if (end === batch.length) {
      this.#batches.shift();
      this.#read = 0;
    }
    this.#resumeWhenFree();
    return popped;
  }

  /** It pauses nothing afterwards, and resumes nothing. */
  stop(): void {
    clearTimeout(this.#look);
    this.#subscription = null;
  }

  /** Memory may become free while the queue is empty: then it looks again after a while. */
  #resumeWhenFree(): void {
    if (!this.#paused || this.#fill >= 0.5) return;
    clearTimeout(this.#look);
    if (this.#options.memory.exceeded) this.#look = setTimeout(() => this.#resumeWhenFree(), LOOK_MS);
    else this.#pause(false);
  }

  /** Fill level of the queue. Above 1 the queue is full. */
  get #fill(): number {
    return Math.max(this.records / this.#options.queueRecordsMax, this.bytes / QUEUE_BYTES_MAX);
  }

  #pause(paused: boolean): void {
    if (paused === this.#paused) return;
    this.#paused = paused;
    const { onPaused, partition } = this.#options;
    if (paused) this.#subscription?.pause(partition);
    else this.#subscription?.resume(partition);
    onPaused(paused);
  }
}

function bytesOf({ key, value }: InputRecord): number {
  return (key?.length ?? 0) + (value?.length ?? 0);
}
