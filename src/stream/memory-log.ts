import { ServiceError } from '../service-error.ts';
import type {
  InputRecord,
  OutputRecord,
  PartitionSession,
  StreamLog,
  Subscription,
  SubscriptionHandlers,
} from './log.ts';

/** A record as a read-committed reader finds it. */
export interface CommittedRecord extends OutputRecord {
  readonly offset: number;
}

/** How a commit goes wrong: it takes no effect, or it does but the answer is lost. */
export type CommitFault = 'before-effect' | 'after-effect';

interface Member {
  readonly handlers: SubscriptionHandlers;
  /** Next offset of each started partition; negative positions do not exist. */
  readonly positions: Map<number, number>;
  readonly paused: Set<number>;
  partitions: readonly number[];
}

/** Records handed over at a time. */
const DELIVERY_RECORDS_MAX = 500;

/**
 * A log in the memory of this process, with the guarantees of the real one: fencing, atomic commits, a group that shares partitions.
 * For tests, and for benchmarks that leave the broker out. Faults and rebalances happen when they are asked for.
 */
export class MemoryLog {
  readonly #partitions: number;
  readonly #changelogTopic: string;
  readonly #input: InputRecord[][];
  readonly #committed = new Map<string, CommittedRecord[]>();
  readonly #offsets: number[];
  readonly #epochs: number[];
  readonly #members: Member[] = [];
  readonly #faults: CommitFault[] = [];
  #away: Error | null = null;

  constructor(options: { readonly partitions: number; readonly changelogTopic: string }) {
    this.#partitions = options.partitions;
    this.#changelogTopic = options.changelogTopic;
    this.#input = Array.from({ length: options.partitions }, () => []);
    this.#offsets = Array.from({ length: options.partitions }, () => 0);
    this.#epochs = Array.from({ length: options.partitions }, () => 0);
  }

  /** Adds a record to the input topic; returns its offset. */
  append(partition: number, record: Pick<InputRecord, 'key' | 'value'> & { timestampMs?: number }): number {
    const offset = this.#input[partition]!.length;
    this.#input[partition]!.push({ timestampMs: 0, ...record, partition, offset });
    for (const member of this.#members) this.#deliver(member, partition);
    return offset;
  }

  /** Committed records of a topic's partition, in log order, tombstones and overwritten ones included. */
  read(topic: string, partition: number): readonly CommittedRecord[] {
    return this.#committed.get(`${topic}/${partition}`) ?? [];
  }

  committedOffset(partition: number): number {
    return this.#offsets[partition]!;
  }

  /** The next commits fail like this, one each. */
  failCommits(...faults: readonly CommitFault[]): void {
    this.#faults.push(...faults);
  }

  /** Takes the log out of reach, or brings it back (null). */
  setAway(error: Error | null): void {
    this.#away = error;
    for (const { handlers } of this.#members) handlers.onConnection(error);
    if (error === null) this.rebalance();
  }

  /** Shares the partitions out anew; every earlier ownership ends. */
  rebalance(): void {
    this.#members.forEach((member, index) => {
      member.positions.clear();
      member.paused.clear();
      member.partitions = Array.from({ length: this.#partitions }, (_, p) => p).filter(
        (partition) => partition % this.#members.length === index,
      );
    });
    for (const member of this.#members) member.handlers.onAssignment(member.partitions);
  }

  /** A client of this log, as one process would have it. */
  connect(): StreamLog {
    return {
      partitionCount: async () => this.#partitions,
      subscribe: async (handlers) => this.#subscribe(handlers),
      openPartition: async (partition, signal) => this.#open(partition, signal),
      close: async () => {},
    };
  }

  #subscribe(handlers: SubscriptionHandlers): Subscription {
    const member: Member = { handlers, positions: new Map(), paused: new Set(), partitions: [] };
    this.#members.push(member);
    queueMicrotask(() => this.rebalance());
    return {
      start: (partition, offset) => {
        if (!member.partitions.includes(partition)) return;
        member.positions.set(partition, offset);
        this.#deliver(member, partition);
      },
      pause: (partition) => void member.paused.add(partition),
      resume: (partition) => {
        member.paused.delete(partition);
        this.#deliver(member, partition);
      },
      stop: async () => {
        const index = this.#members.indexOf(member);
        if (index < 0) return;
        this.#members.splice(index, 1);
        this.rebalance();
      },
    };
  }

  /** Hands over what is there, a batch per turn of the event loop. */
  #deliver(member: Member, partition: number): void {
    setImmediate(() => {
      const position = member.positions.get(partition);
      if (position === undefined || member.paused.has(partition) || this.#away !== null) return;
      if (!this.#members.includes(member)) return;
      const records = this.#input[partition]!.slice(position, position + DELIVERY_RECORDS_MAX);
      if (records.length === 0) return;
      member.positions.set(partition, position + records.length);
      member.handlers.onRecords(partition, records);
      this.#deliver(member, partition);
    });
  }

  #open(partition: number, signal: AbortSignal | undefined): PartitionSession {
    signal?.throwIfAborted();
    this.#assertReachable();
    const epoch = ++this.#epochs[partition]!;
    const assertOwner = () => {
      this.#assertReachable();
      if (epoch !== this.#epochs[partition]) {
        throw new ServiceError('fenced', `partition ${partition} has a later owner`, { retryable: true });
      }
    };
    return {
      partition,
      committedOffset: this.#offsets[partition]!,
      readChangelog: async (onRecord) => {
        assertOwner();
        for (const { key, value } of this.read(this.#changelogTopic, partition)) onRecord(key!, value);
      },
      commit: async (outputs, nextOffset) => {
        await new Promise((resolve) => setImmediate(resolve));
        assertOwner();
        const fault = this.#faults.shift();
        if (fault !== 'before-effect') this.#write(partition, outputs, nextOffset);
        if (fault !== undefined)
          throw new ServiceError('broker-unavailable', `commit failed ${fault}`, { retryable: true });
      },
      close: async () => {},
    };
  }

  #write(partition: number, outputs: readonly OutputRecord[], nextOffset: number): void {
    for (const output of outputs) {
      const place = `${output.topic}/${output.partition}`;
      const records = this.#committed.get(place) ?? [];
      if (records.length === 0) this.#committed.set(place, records);
      records.push({ ...output, offset: records.length });
    }
    this.#offsets[partition] = nextOffset;
  }

  #assertReachable(): void {
    if (this.#away !== null) {
      throw new ServiceError('broker-unavailable', this.#away.message, { retryable: true, cause: this.#away });
    }
  }
}
