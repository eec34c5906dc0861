import type { Topics } from '../config/config.ts';
import { ServiceError } from '../service-error.ts';
import type {
  InputRecord,
  OutputRecord,
  PartitionSession,
  StreamLog,
  Subscription,
  SubscriptionHandlers,
} from './log.ts';

/** A record as it is stored. */
export interface StoredRecord {
  readonly offset: number;
  readonly timestampMs: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** As a broker's default: a larger record is refused, however often it is sent. */
const recordBytesMax = 1024 * 1024;

/** Records handed over at a time, as a fetch would bring them. */
const deliveredRecordsMax = 500;

/**
 * A broker in memory for tests, with Kafka's semantics: several logs (workers) share its topics and one consumer group; commits are
 * atomic, partitions are fenced, and every hand-over is a turn of its own.
 */
export class MemoryBroker {
  readonly topics: Topics;
  readonly partitions: number;
  readonly #stored = new Map<string, StoredRecord[]>();
  readonly #offsets = new Map<number, number>();
  readonly #epochs = new Map<number, number>();
  readonly #members = new Set<Member>();
  readonly #failures: ('before' | 'after')[] = [];
  readonly #reconnected = new EventTarget();
  #away: ServiceError | null = null;

  constructor(topics: Topics, partitions: number) {
    this.topics = topics;
    this.partitions = partitions;
  }

  /** Appends to the input topic; returns the record's offset. */
  append(partition: number, key: Buffer | null, value: Buffer | null, timestampMs = 0): number {
    const offset = this.#store(this.topics.observations, partition, { key, value, headers: {}, timestampMs });
    for (const member of this.#members) member.deliverSoon();
    return offset;
  }

  /** What a reader of committed records sees. */
  read(topic: string, partition: number): readonly StoredRecord[] {
    return this.#stored.get(`${topic}/${partition}`) ?? [];
  }

  /** The group's offset of an input partition. */
  committedOffset(partition: number): number {
    return this.#offsets.get(partition) ?? 0;
  }

  /** The next commit of any session is rejected, `before` or `after` it took effect. Further calls queue up. */
  failNextCommit(when: 'before' | 'after'): void {
    this.#failures.push(when);
  }

  /** The group is joined anew: every member's ownership ends and a new one begins. */
  rebalance(): void {
    const members = [...this.#members];
    for (const [turn, member] of members.entries()) {
      const owned = Array.from({ length: this.partitions }, (_, partition) => partition);
      member.assign(owned.filter((partition) => partition % members.length === turn));
    }
  }

  /** Out of reach until `reconnect`: commits are rejected, nothing is delivered, partitions cannot be opened. */
  disconnect(): void {
    this.#away = new ServiceError('broker-unavailable', 'The memory broker is out of reach', { retryable: true });
    for (const member of this.#members) member.connection(this.#away);
  }

  reconnect(): void {
    this.#away = null;
    this.#reconnected.dispatchEvent(new Event('back'));
    for (const member of this.#members) member.connection(null);
    this.rebalance();
  }

  /** The log of one worker. */
  openLog(): StreamLog {
    const mine = new Set<Member>();
    const closing = new AbortController();
    const leave = (member: Member) => {
      member.stop();
      if (this.#members.delete(member)) this.rebalance();
    };
    return {
      partitionCount: async () => this.partitions,
      subscribe: async (handlers) => {
        const member = new Member(handlers, (partition, offset) => this.#inputFrom(partition, offset));
        mine.add(member);
        this.#members.add(member);
        this.rebalance();
        return {
          start: (partition, offset) => member.start(partition, offset),
          pause: (partition) => member.pause(partition),
          resume: (partition) => member.resume(partition),
          stop: async () => leave(member),
        } satisfies Subscription;
      },
      openPartition: (partition, signal) => {
        const until = signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]);
        return this.#openPartition(partition, until);
      },
      close: async () => {
        closing.abort(new ServiceError('internal', 'The log was closed'));
        for (const member of mine) leave(member);
      },
    };
  }

  async #openPartition(partition: number, signal: AbortSignal): Promise<PartitionSession> {
    await turn();
    signal.throwIfAborted();
    while (this.#away !== null) await this.#untilBack(signal);
    const epoch = (this.#epochs.get(partition) ?? 0) + 1;
    this.#epochs.set(partition, epoch);
    let dead = false;
    const alive = () => {
      if (dead || this.#away !== null) {
        dead = true;
        throw this.#away ?? new ServiceError('internal', `The session of partition ${partition} is dead`);
      }
    };
    return {
      partition,
      committedOffset: this.committedOffset(partition),
      readChangelog: async (onRecord) => {
        alive();
        for (const { key, value } of [...this.read(this.topics.changelog, partition)]) {
          if (key !== null) onRecord(key, value);
        }
        await turn();
      },
      commit: async (outputs, nextOffset) => {
        alive();
        // Dead until proven alive: a second call before the first has ended is as wrong here as on Kafka.
        dead = true;
        await turn();
        if (this.#away !== null) throw this.#away;
        this.#refuseFenced(partition, epoch);
        this.#commit(partition, outputs, nextOffset);
        dead = false;
      },
      close: async () => {
        dead = true;
      },
    };
  }

  #refuseFenced(partition: number, epoch: number): void {
    if (this.#epochs.get(partition) !== epoch) {
      throw new ServiceError('fenced', `A later owner took partition ${partition} over`);
    }
  }

  #commit(partition: number, outputs: readonly OutputRecord[], nextOffset: number): void {
    for (const { topic, key, value } of outputs) {
      if ((key?.length ?? 0) + (value?.length ?? 0) > recordBytesMax) {
        throw new ServiceError('record-too-large', `A record for ${topic} is larger than ${recordBytesMax} bytes`);
      }
    }
    const failure = this.#failures.shift();
    const lost = new ServiceError('broker-unavailable', 'The connection was lost in a commit', { retryable: true });
    if (failure === 'before') throw lost;
    for (const { topic, partition: target, key, value, headers } of outputs) {
      this.#store(topic, target, { key, value, headers: { ...headers }, timestampMs: 0 });
    }
    this.#offsets.set(partition, nextOffset);
    if (failure === 'after') throw lost;
  }

  /** Copies: what the caller does with its buffers afterwards must not change what is stored. */
  #store(topic: string, partition: number, record: Omit<StoredRecord, 'offset'>): number {
    const at = `${topic}/${partition}`;
    const records = this.#stored.get(at) ?? [];
    this.#stored.set(at, records);
    const { key, value } = record;
    const offset = records.length;
    records.push({ ...record, offset, key: key && Buffer.from(key), value: value && Buffer.from(value) });
    return offset;
  }

  #inputFrom(partition: number, offset: number): readonly StoredRecord[] {
    if (this.#away !== null) return [];
    return this.read(this.topics.observations, partition).slice(offset, offset + deliveredRecordsMax);
  }

  #untilBack(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#reconnected.addEventListener('back', () => resolve(), { once: true, signal });
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  }
}

/** One subscription of the group. */
class Member {
  readonly #handlers: SubscriptionHandlers;
  readonly #read: (partition: number, offset: number) => readonly StoredRecord[];
  readonly #positions = new Map<number, { offset: number; paused: boolean }>();
  #assigned: ReadonlySet<number> = new Set();
  #generation = 0;
  #stopped = false;
  #delivering = false;

  constructor(handlers: SubscriptionHandlers, read: (partition: number, offset: number) => readonly StoredRecord[]) {
    this.#handlers = handlers;
    this.#read = read;
  }

  assign(partitions: readonly number[]): void {
    const generation = ++this.#generation;
    this.#positions.clear();
    this.#assigned = new Set();
    void turn().then(() => {
      if (this.#stopped || generation !== this.#generation) return;
      this.#assigned = new Set(partitions);
      this.#handlers.onAssignment(partitions);
    });
  }

  connection(error: Error | null): void {
    void turn().then(() => {
      if (!this.#stopped) this.#handlers.onConnection(error);
    });
  }

  start(partition: number, offset: number): void {
    if (!this.#assigned.has(partition)) return;
    this.#positions.set(partition, { offset, paused: false });
    this.deliverSoon();
  }

  pause(partition: number): void {
    const position = this.#positions.get(partition);
    if (position !== undefined) position.paused = true;
  }

  resume(partition: number): void {
    const position = this.#positions.get(partition);
    if (position !== undefined) position.paused = false;
    this.deliverSoon();
  }

  stop(): void {
    this.#stopped = true;
    this.#positions.clear();
  }

  deliverSoon(): void {
    if (this.#delivering) return;
    this.#delivering = true;
    void turn().then(() => {
      this.#delivering = false;
      let delivered = 0;
      for (const [partition, position] of [...this.#positions]) delivered += this.#deliver(partition, position);
      if (delivered > 0) this.deliverSoon();
    });
  }

  #deliver(partition: number, position: { offset: number; paused: boolean }): number {
    if (this.#stopped || position.paused || this.#positions.get(partition) !== position) return 0;
    const stored = this.#read(partition, position.offset);
    if (stored.length === 0) return 0;
    position.offset += stored.length;
    const records = stored.map(
      ({ offset, timestampMs, key, value }): InputRecord => ({
        partition,
        offset,
        timestampMs,
        key,
        value,
      }),
    );
    this.#handlers.onRecords(partition, records);
    return records.length;
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
