import { endOffset } from '../batch/record-batch-decoder.ts';
import { giveBackBatch } from '../batch/reused-bytes.ts';
import type { ClusterLink } from '../cluster/connection.ts';
import { explainFailure, protocolErrorType } from '../cluster/failure.ts';
import { errorFromCode } from '../cluster/kafkajs.ts';
import { isLedElsewhere, leaderEpochOf, leaderOf, refreshLeaders, topicIdOf } from '../cluster/leader.ts';
import type { Broker } from '../protocol/protocol-request.ts';
import { type FetchedPartition, type FetchLimits, fetchTopic, restOf, timed } from './fetch.ts';
import type { FetchHandlers } from './fetch-handlers.ts';
import { decodeInput, NO_HEADERS, recordOfSkipped } from './input-records.ts';
import { findTruncation, isRecreated, locatePosition, type NewPosition } from './out-of-range.ts';
import { hangingTransaction } from './partition-reader.ts';
import {
  FETCH_RETRY_MS_MAX,
  type InputEnd,
  PartitionReading,
  positionsInTurn,
  type SentPartition,
} from './partition-reading.ts';

/** A short wait: a partition that is started or resumed is not part of the fetch in flight. */
const LIMITS: FetchLimits = { waitMsMax: 100, partitionBytesMax: 1024 * 1024, responseBytesMax: 4 * 1024 * 1024 };
const RECONNECT_MS_MIN = 50;
const OFFSET_NOT_AVAILABLE = 78;

/**
 * Fetches the started partitions of a topic, with one request in flight to each broker. A partition that fails backs
 * off alone: its neighbours are fetched as before. So do the partitions of a broker that fails. Only when no broker
 * can be reached all connections are opened again.
 */
export class FetchLoop {
  readonly #connect: () => Promise<ClusterLink>;
  readonly #topic: string;
  readonly #handlers: FetchHandlers;
  readonly #readings = new Map<number, PartitionReading>();
  /** By node, until when it rests. */
  readonly #fetching = new Map<number, Promise<void>>();
  #link: ClusterLink | null = null;
  #reconnecting = false;
  #stopped = false;
  #reconnectMs = RECONNECT_MS_MIN;
  #reconnect: NodeJS.Timeout | undefined;
  #turn = 0;

  /** @param connect opens connections to the cluster that know the topic */
  constructor(connect: () => Promise<ClusterLink>, topic: string, handlers: FetchHandlers) {
    this.#connect = connect;
    this.#topic = topic;
    this.#handlers = handlers;
  }

  /** Connects for the first time. Throws a ServiceError when that fails. */
  async open(): Promise<void> {
    this.#link = await this.#connect().catch((error: unknown) => {
      throw explainFailure(error, `opening topic ${this.#topic}`);
    });
  }

  /** @param topicId of the topic that `offset` belongs to; null: of the present one */
  start(partition: number, offset: number, topicId: string | null = null): void {
    this.#readings.get(partition)?.cancelRetry();
    const presentId = this.#link === null ? null : topicIdOf(this.#link.cluster, this.#topic);
    this.#readings.set(partition, new PartitionReading(partition, offset, topicId ?? presentId));
    this.#fetchIdle();
  }

  pause(partition: number): void {
    const reading = this.#readings.get(partition);
    if (reading !== undefined) reading.paused = true;
  }

  resume(partition: number): void {
    const reading = this.#readings.get(partition);
    if (reading === undefined || !reading.paused) return;
    reading.paused = false;
    // Not synchronously: the caller of resume() does not expect records before it returns.
    if (reading.held !== null) setImmediate(() => this.#deliverHeld(reading));
    else this.#fetchIdle();
  }

  end(partition: number): InputEnd | null {
    return this.#readings.get(partition)?.end ?? null;
  }

  keepOnly(partitions: ReadonlySet<number>): void {
    this.#handlers.epochs.keepOnly(partitions);
    for (const [partition, reading] of this.#readings) {
      if (partitions.has(partition)) continue;
      reading.cancelRetry();
      this.#readings.delete(partition);
    }
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#reconnect);
    this.keepOnly(new Set());
    this.#link?.destroy();
  }

  /** Sends a fetch to every leader of fetchable partitions that has none in flight. */
  #fetchIdle(): void {
    const link = this.#link;
    if (link === null || this.#reconnecting || this.#stopped) return;
    const byLeader = new Map<number, PartitionReading[]>();
    for (const reading of this.#readings.values()) {
      if (!reading.fetchable) continue;
      try {
        const nodeId = leaderOf(link.cluster, this.#topic, reading.partition);
        if (!this.#isChecked(link, reading)) continue;
        byLeader.set(nodeId, byLeader.get(nodeId) ?? []);
        byLeader.get(nodeId)?.push(reading);
      } catch (error) {
        this.#backOff(link, reading, error);
      }
    }
    for (const [nodeId, readings] of byLeader) {
      if (!this.#fetching.has(nodeId)) void this.#fetchFrom(link, nodeId, readings);
    }
  }

  /**
   * A position in a topic that was created again is located first: the topic may have other records there by now. After
   * a change of the leader a position is fetched from once the new leader's log is known to hold it.
   */
  #isChecked(link: ClusterLink, reading: PartitionReading): boolean {
    const { partition, offset, topicId } = reading;
    if (isRecreated(link.cluster, { topic: this.#topic, topicId })) {
      void this.#check(link, reading, () => this.#relocate(link, reading));
      return false;
    }
    const leaderEpoch = leaderEpochOf(link.cluster, this.#topic, partition);
    const epoch = this.#handlers.epochs.before(partition, offset);
    if (reading.isChecked(leaderEpoch, epoch)) return true;
    void this.#check(link, reading, async () => {
      const question = { topic: this.#topic, partition, leaderEpoch, epoch };
      const truncated = await findTruncation(link.cluster, question, reading);
      // A paused partition delivers nothing: it is checked again when it is fetched again.
      if (truncated !== null && reading.paused) return;
      if (truncated !== null && this.#isCurrent(reading)) this.#skipTo(reading, truncated);
      reading.checkedEpoch = leaderEpoch;
    });
    return false;
  }

  /** The partition is not fetched meanwhile. */
  async #check(link: ClusterLink, reading: PartitionReading, work: () => Promise<void>): Promise<void> {
    reading.checking = true;
    await work().catch((error: unknown) => this.#backOff(link, reading, error));
    reading.checking = false;
    this.#fetchIdle();
  }

  async #fetchFrom(link: ClusterLink, nodeId: number, readings: readonly PartitionReading[]): Promise<void> {
    this.#fetching.set(nodeId, restOf(readings.length));
    let broker: Broker | null = null;
    try {
      await link.cluster.refreshMetadataIfNecessary();
      broker = await link.cluster.findBroker({ nodeId });
      const sent = new Map(readings.map((reading) => [reading.partition, { reading, epoch: reading.checkedEpoch }]));
      const request = { topic: this.#topic, positions: positionsInTurn(readings, this.#turn++), limits: LIMITS };
      const { partitions } = await timed(fetchTopic(broker, request), this.#handlers.onAnswer);
      // A response of a destroyed link is discarded. Its partitions are fetched again below.
      if (!this.#stopped && this.#link === link) {
        this.#reconnectMs = RECONNECT_MS_MIN;
        this.#handlers.onConnection(null);
        for (const fetched of partitions) await this.#receive(link, sent.get(fetched.partition), fetched);
        // All of them are in one response, and nothing refers to it any more.
        if (partitions.length > 0) giveBackBatch(partitions[0].records);
      }
    } catch (error) {
      if (broker !== null) link.dropBroker(broker);
      for (const reading of readings) reading.failed();
      // Partitions with a new leader are fetched there at once, the others later.
      await refreshLeaders(link.cluster).catch(() => undefined);
      const topic = this.#topic;
      const stayed = readings.filter(({ partition }) => !isLedElsewhere(link.cluster, { topic, partition, nodeId }));
      for (const reading of stayed) this.#backOff(link, reading, error);
    } finally {
      await this.#fetching.get(nodeId);
      this.#fetching.delete(nodeId);
    }
    this.#fetchIdle();
  }

  async #receive(link: ClusterLink, sent: SentPartition | undefined, fetched: FetchedPartition): Promise<void> {
    const { reading } = sent ?? {};
    // A response of an earlier leader is discarded: its log may have been truncated since.
    if (reading === undefined || !this.#isCurrent(reading) || reading.checkedEpoch !== sent?.epoch) return;
    try {
      if (fetched.errorCode !== 0) {
        const error = errorFromCode(fetched.errorCode, 'Read', 'topic', this.#topic);
        if (protocolErrorType(error) !== 'OFFSET_OUT_OF_RANGE') throw error;
        // A paused partition delivers nothing: it is located when it is fetched again.
        if (!reading.paused) await this.#relocate(link, reading);
      } else if (!reading.paused) this.#deliver(reading, fetched);
    } catch (error) {
      this.#backOff(link, reading, error);
      return;
    }
    if (reading.waitsForTransaction(fetched, performance.now())) {
      const failure = hangingTransaction(this.#topic, reading.partition, fetched.lastStableOffset);
      if (reading.stall(failure)) this.#handlers.onStalled(reading.partition, failure);
    } else if (reading.recovered(fetched)) this.#handlers.onStalled(reading.partition, null);
    if (fetched.errorCode !== 0 || !reading.paused || fetched.records.length === 0) return;
    reading.held = { ...fetched, records: Buffer.from(fetched.records) };
  }

  #isCurrent(reading: PartitionReading): boolean {
    return !this.#stopped && this.#readings.get(reading.partition) === reading;
  }

  #deliverHeld(reading: PartitionReading): void {
    const { held } = reading;
    if (reading.paused || held === null || !this.#isCurrent(reading)) return;
    reading.held = null;
    try {
      this.#deliver(reading, held);
    } catch (error) {
      if (this.#link !== null) this.#backOff(this.#link, reading, error);
    }
    this.#fetchIdle();
  }

  /** Copies the bytes once: its records may be kept without the whole response. Throws where they are damaged. */
  #deliver(reading: PartitionReading, fetched: FetchedPartition): void {
    const { partition, offset } = reading;
    const bytes = Buffer.from(fetched.records);
    const source = { partition, fromOffset: offset, aborted: fetched.aborted };
    const records = decodeInput(bytes, source, this.#handlers.headers ?? NO_HEADERS);
    this.#handlers.epochs.fetched(partition, bytes);
    reading.offset = Math.max(offset, endOffset(fetched.records) ?? 0);
    this.#handlers.onFetch?.({
      partition,
      records: records.length,
      bytes: fetched.records.length,
      nextOffset: reading.offset,
      endOffset: fetched.endOffset,
    });
    if (reading.offset > offset) this.#handlers.onRecords(partition, records, reading.offset);
  }

  /** The position cannot be read any more. Delivers the skipped range instead of its records. */
  async #relocate(link: ClusterLink, reading: PartitionReading): Promise<void> {
    const { partition, offset, topicId } = reading;
    const found = await locatePosition(link.cluster, { topic: this.#topic, partition, offset, topicId });
    if (found === null) throw errorFromCode(OFFSET_NOT_AVAILABLE);
    if (!this.#isCurrent(reading) || reading.paused) return;
    this.#skipTo(reading, found);
  }

  #skipTo(reading: PartitionReading, { offset, topicId, skipped }: NewPosition): void {
    const { partition } = reading;
    const text = `Offset ${reading.offset} of partition ${partition} of ${this.#topic} is gone; reading continues at`;
    this.#handlers.log?.('error', `${text} ${offset}`, { partition, ...skipped });
    reading.offset = offset;
    reading.topicId = topicId;
    this.#handlers.epochs.truncate(partition, offset);
    this.#handlers.onRecords(partition, [recordOfSkipped(partition, offset, skipped)], offset);
  }

  /** Retries one partition later, with new metadata. */
  #backOff(link: ClusterLink, reading: PartitionReading, error: unknown): void {
    if (this.#link !== link || !this.#isCurrent(reading)) return;
    const { partition } = reading;
    const failure = explainFailure(error, `reading partition ${partition} of ${this.#topic}`);
    const becameStalled = reading.backOff(failure, () => void this.#retryPartition());
    if (failure.code === 'configuration') this.#handlers.onFatal(failure);
    else if (becameStalled) this.#handlers.onStalled(partition, failure);
  }

  async #retryPartition(): Promise<void> {
    const link = this.#link;
    if (link === null || this.#reconnecting || this.#stopped) return;
    try {
      await refreshLeaders(link.cluster);
    } catch (error) {
      if (this.#link === link) this.#reconnectLater(error);
      return;
    }
    this.#fetchIdle();
  }

  /** No broker answers: opens all connections again, with back-off. */
  #reconnectLater(error: unknown): void {
    if (this.#stopped || this.#reconnecting) return;
    const failure = explainFailure(error, `reading topic ${this.#topic}`);
    if (failure.code === 'configuration') {
      this.#handlers.onFatal(failure);
      return;
    }
    this.#handlers.onConnection(failure);
    this.#link?.destroy();
    this.#link = null;
    this.#reconnecting = true;
    this.#reconnect = setTimeout(() => void this.#tryReconnect(), this.#reconnectMs);
    this.#reconnectMs = Math.min(2 * this.#reconnectMs, FETCH_RETRY_MS_MAX);
  }

  async #tryReconnect(): Promise<void> {
    try {
      const link = await this.#connect();
      if (this.#stopped) link.destroy();
      this.#link = link;
      // Reported here as well: there may be nothing to fetch.
      this.#handlers.onConnection(null);
      this.#reconnecting = false;
      this.#fetchIdle();
    } catch (error) {
      this.#reconnecting = false;
      this.#reconnectLater(error);
    }
  }
}
