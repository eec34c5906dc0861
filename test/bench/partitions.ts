/** Many partitions on a few workers: memory, connections and transactions of each, and what a rebalance takes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { readTopicEnds } from '../../src/kafka/admin/consumer-group.ts';
import type { KafkaConnection } from '../../src/kafka/cluster/connection.ts';
import { type BulkProducer, openBulkProducer } from '../../src/kafka/produce/bulk-producer.ts';
import { ensureTopics } from '../../src/stream/topics/topic-admin.ts';
import { TOPICS } from '../fixture/stream/stream-run.ts';
import type { Figures } from './bench.ts';
import { type Child, startChild } from './child.ts';
import { withBroker } from './local-broker.ts';
import type { PartitionsOptions, TakenOver, WorkerFigures } from './partitions-process.ts';
import { printTable, rounded } from './table.ts';

const SERIES_PER_PARTITION = 10;
const FEED_MS = 100;
/** Records a second, to all partitions in turn. */
const FEED_PER_S = 1_000;
/** Of a partition, produced at once. */
const BACKLOG = 100;
const WAIT_MS_MAX = 300_000;
/** As Kafka's default: so many partitions keep a broker busy, and it must not lose them for that. */
const BUSY_BROKER = { sessionMs: 9_000 };

/** @param args partitions (1,000), workers (3), seconds of each steady phase (20) */
export async function run(args: readonly string[]): Promise<Figures> {
  const [partitions = 1_000, workers = 3, seconds = 20] = args.map(Number);
  return withBroker(async (connection) => {
    const options = await prepare(connection, partitions);
    const producer = await openBulkProducer(connection, options.topics.observations);
    const feed = new Feed(producer, partitions);
    const group = new Group(options, partitions);
    try {
      const startedMs = Date.now();
      feed.start();
      for (let i = 0; i < workers; i++) group.add();
      await group.untilTakenOver(startedMs, partitions);
      const firstS = (Date.now() - startedMs) / 1_000;
      await group.caughtUp(feed);
      const steady = await group.measure(seconds * 1_000);
      const leave = await group.leave();
      const join = await group.join(workers);
      const after = await group.measure(seconds * 1_000);
      feed.stop();
      const messagesPerS = await group.backlog(feed);
      printRows(`${partitions} partitions on ${workers} workers, ${FEED_PER_S} records/s`, steady);
      printRows('the same after one worker has left and another one has joined', after);
      return {
        partitions,
        workers,
        first_start_s: rounded(firstS),
        rss_mb_max: rounded(Math.max(...after.map(({ rssMb }) => rssMb))),
        connections: after.reduce((sum, { connections }) => sum + connections, 0),
        transactions_per_s: rounded(steady.reduce((sum, each) => sum + each.transactions, 0) / seconds),
        feed_per_s: rounded(steady.reduce((sum, each) => sum + each.records, 0) / seconds),
        cpu_cores: rounded(steady.reduce((sum, each) => sum + each.cpuS, 0) / seconds),
        leave_s: rounded(leave),
        join_s: rounded(join),
        messages_per_s: rounded(messagesPerS),
        retries: after.reduce((sum, { retries }) => sum + retries, 0),
      };
    } finally {
      feed.stop();
      await group.close();
      await producer.close();
    }
  }, BUSY_BROKER);
}

async function prepare(connection: KafkaConnection, partitions: number): Promise<PartitionsOptions> {
  const creation = { partitions, replicationFactor: 1, retentionMs: null };
  // So many partitions have leaders long after they were made.
  await ensureTopics(connection, TOPICS, creation).catch(() => untilKnown(connection, Object.values(TOPICS)));
  return { kafka: connection.config, topics: TOPICS, groupId: 'partitions' };
}

async function untilKnown(connection: KafkaConnection, topics: readonly string[]): Promise<void> {
  for (const deadlineMs = Date.now() + WAIT_MS_MAX; ; await sleep(1_000)) {
    try {
      await readTopicEnds(connection, topics);
      return;
    } catch (error) {
      if (Date.now() > deadlineMs) throw error;
    }
  }
}

function printRows(title: string, rows: readonly WorkerFigures[]): void {
  const columns = ['worker', 'memory MB', 'connections', 'transactions', 'records', 'processor s'];
  const cells = rows.map(({ rssMb, connections, transactions, records, cpuS }, i) => {
    return [i + 1, rssMb, connections, transactions, records, cpuS];
  });
  printTable(title, columns, cells);
}

/** Observations of every partition at an even rate. */
class Feed {
  readonly #producer: BulkProducer;
  readonly #partitions: number;
  readonly #originMs = Date.now() - 86_400_000;
  #next = 0;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(producer: BulkProducer, partitions: number) {
    this.#producer = producer;
    this.#partitions = partitions;
  }

  get sent(): number {
    return this.#next;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#sending = this.#sending.then(() => this.send((FEED_PER_S * FEED_MS) / 1_000)).catch(() => undefined);
    }, FEED_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async send(count: number): Promise<void> {
    const records = Array.from({ length: count }, () => {
      const at = this.#next++;
      const partition = at % this.#partitions;
      const nth = Math.floor(at / this.#partitions);
      const series = `plant-${partition}-${nth % SERIES_PER_PARTITION}`;
      const timestamp = this.#originMs + Math.floor(nth / SERIES_PER_PARTITION) * 1_000;
      const value = Buffer.from(JSON.stringify({ series, timestamp, value: (at * 7) % 101 }));
      return { partition, key: Buffer.from(series), value };
    });
    await this.#producer.send(records);
  }
}

interface Member {
  readonly child: Child<WorkerFigures | TakenOver>;
  newest: WorkerFigures | null;
}

/** The workers, and when each partition was taken over last. */
class Group {
  readonly #options: PartitionsOptions;
  readonly #partitions: number;
  readonly #members: Member[] = [];
  readonly #takenOverMs = new Map<number, number>();
  #failure: Error | null = null;

  constructor(options: PartitionsOptions, partitions: number) {
    this.#options = options;
    this.#partitions = partitions;
  }

  add(): void {
    const member: Member = { child: startChild('partitions-process.ts', this.#options), newest: null };
    this.#members.push(member);
    void this.#follow(member);
  }

  async #follow(member: Member): Promise<void> {
    try {
      for (;;) {
        const said = await member.child.next();
        if (said.kind === 'figures') member.newest = said;
        else this.#takenOverMs.set(said.partition, said.atMs);
      }
    } catch (error) {
      if (this.#members.includes(member)) this.#failure = error as Error;
    }
  }

  async #until(what: string, holds: () => boolean): Promise<void> {
    for (const deadlineMs = Date.now() + WAIT_MS_MAX; !holds(); await sleep(50)) {
      if (this.#failure !== null) throw this.#failure;
      if (Date.now() > deadlineMs) throw new Error(`waited in vain until ${what}`);
    }
  }

  async untilTakenOver(sinceMs: number, count: number): Promise<void> {
    const moved = () => [...this.#takenOverMs.values()].filter((atMs) => atMs >= sinceMs).length;
    await this.#until(`${count} partitions are taken over`, () => moved() >= count);
  }

  /** Records, by the workers of now. */
  #scored(): number {
    return this.#members.reduce((sum, { newest }) => sum + (newest?.records ?? 0), 0);
  }

  /** Until the group keeps up: the broker opens the files of a partition with its first records. */
  async caughtUp(feed: Feed): Promise<void> {
    await this.#until('the group keeps up', () => feed.sent - this.#scored() < 2 * FEED_PER_S);
  }

  /** What each worker did in `ms`. */
  async measure(ms: number): Promise<WorkerFigures[]> {
    await this.#until('every worker has figures', () => this.#members.every(({ newest }) => newest !== null));
    const before = this.#members.map(({ newest }) => newest!);
    await sleep(ms);
    return this.#members.map(({ newest }, i) => ({
      ...newest!,
      transactions: newest!.transactions - before[i].transactions,
      records: newest!.records - before[i].records,
      cpuS: newest!.cpuS - before[i].cpuS,
    }));
  }

  /** Seconds until the partitions of a worker that stops are scored by the others. */
  async leave(): Promise<number> {
    const sinceMs = Date.now();
    const [member] = this.#members.splice(0, 1);
    const share = Math.floor(this.#partitions / (this.#members.length + 1));
    await member.child.stop();
    await this.untilTakenOver(sinceMs, share);
    return (Math.max(...this.#takenOverMs.values()) - sinceMs) / 1_000;
  }

  /** Seconds from the start of a process until it scores its share. */
  async join(workers: number): Promise<number> {
    const sinceMs = Date.now();
    this.add();
    await this.untilTakenOver(sinceMs, Math.floor(this.#partitions / workers));
    return (Math.max(...this.#takenOverMs.values()) - sinceMs) / 1_000;
  }

  /** Records a second that are scored where every partition has a lag. */
  async backlog(feed: Feed): Promise<number> {
    await sleep(5_000);
    const before = this.#scored();
    const startedMs = Date.now();
    const count = BACKLOG * this.#partitions;
    for (let sent = 0; sent < count; sent += this.#partitions * 10) await feed.send(this.#partitions * 10);
    await this.#until('the backlog is scored', () => this.#scored() - before >= 0.99 * count);
    return (this.#scored() - before) / ((Date.now() - startedMs) / 1_000);
  }

  async close(): Promise<void> {
    await Promise.all(this.#members.splice(0).map(({ child }) => child.stop()));
  }
}
