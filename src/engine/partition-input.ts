import type { InputRecord, Subscription } from './log/log.ts';
import type { MemoryGuard } from './memory-guard.ts';
import { RecordQueue } from './record-queue.ts';

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
  readonly #queue = new RecordQueue();
  #subscription: Subscription | null = null;
  #paused = false;
  /** The offset behind what was delivered. */
  nextOffset = 0;
  #look: NodeJS.Timeout | undefined;

  constructor(options: PartitionInputOptions) {
    this.#options = options;
  }

  get records(): number {
    return this.#queue.length;
  }

  /** Time of the record that is taken next; null if there is none. */
  get headMs(): number | null {
    return this.#queue.headMs;
  }

  get bytes(): number {
    return this.#queue.bytes;
  }

  /** Forgets what was delivered before, and reads from `offset` on, of the topic with this id. */
  start(subscription: Subscription, offset: number, topicId: string | null): void {
    this.#queue.clear();
    this.nextOffset = offset;
    this.#subscription = subscription;
    subscription.start(this.#options.partition, offset, topicId);
    this.#pause(false);
  }

  /** Records that arrive before the start were requested by an earlier task of the partition, and are fetched again. */
  accept(records: readonly InputRecord[], nextOffset: number): void {
    if (this.#subscription === null) return;
    this.nextOffset = nextOffset;
    this.#queue.accept(records);
    if (!this.#paused && (this.#fill > 1 || this.#options.memory.exceeded)) this.#pause(true);
  }

  pop(max: number, bytesMax: number, untilMs?: number): readonly InputRecord[] {
    const records = this.#queue.pop(max, bytesMax, untilMs);
    this.#resumeWhenFree();
    return records;
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
    return Math.max(this.#queue.length / this.#options.queueRecordsMax, this.#queue.bytes / QUEUE_BYTES_MAX);
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
