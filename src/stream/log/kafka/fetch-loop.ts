import type { ServiceError } from '../../../service-error.ts';
import type { InputRecord } from '../log.ts';
import type { ClusterLink } from './connection.ts';
import { explainFailure, protocolErrorType } from './failure.ts';
import { type FetchedPartition, type FetchLimits, fetchTopic, timed } from './fetch.ts';
import { type Broker, errorFromCode } from './kafkajs-internals.ts';
import { leaderOf } from './leader.ts';
import { locatePosition } from './out-of-range.ts';
import { FETCH_RETRY_MS_MAX, PartitionReading } from './partition-reading.ts';
import { decodeRecords, endOffset, pickHeaders } from './record-batch-decoder.ts';
import { knownTopicId } from './topic-id.ts';

/** A short wait: a partition that is started or resumed is not part of the fetch in flight. */
const LIMITS: FetchLimits = { waitMsMax: 100, partitionBytesMax: 1024 * 1024, responseBytesMax: 4 * 1024 * 1024 };
const RECONNECT_MS_MIN = 50;
/** As in Kafka. */
const NO_TIMESTAMP = -1;
const OFFSET_NOT_AVAILABLE = 78;

export interface FetchReport {
  readonly partition: number;
  readonly records: number;
  readonly bytes: number;
  /** Position of the next fetch, and end of the partition. Their difference is the lag. */
  readonly nextOffset: number;
  readonly endOffset: number;
}

export interface FetchHandlers {
  /** Headers that are delivered with the records; the others are left out. */
  readonly headers?: readonly string[];
  onRecords(partition: number, records: readonly InputRecord[]): void;
  /** The whole cluster is out of reach (`error`), or back (`null`). */
  onConnection(error: ServiceError | null): void;
  /** One partition makes no progress (`error`), or makes progress again (`null`). */
  onStalled(partition: number, error: ServiceError | null): void;
  onFatal(error: ServiceError): void;
  onFetch?(report: FetchReport): void;
  /** A broker has answered. */
  readonly onAnswer?: (seconds: number) => void;
  log?(level: 'warn' | 'error', text: string, detail: Readonly<Record<string, unknown>>): void;
}

/**
 * Fetches the started partitions of a topic, with one request in flight to each broker. A partition that fails backs
 * off alone: its neighbours are fetched as before. So do the partitions of a broker that fails. Only when no broker
 * can be reached all connections are opened anew.
 */
export class FetchLoop {
  readonly #connect: () => Promise<ClusterLink>;
  readonly #topic: string;
  readonly #handlers: FetchHandlers;
  readonly #readings = new Map<number, PartitionReading>();
  readonly #fetching = new Set<number>();
  #link: ClusterLink | null = null;
  #topicId: string | null = null;
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
    try {
      this.#link = await this.#connect();
      this.#topicId = await knownTopicId(this.#link.cluster, this.#topic);
    } catch (error) {
      throw explainFailure(error, `topic ${this.#topic} was opened`);
    }
  }

  start(partition: number, offset: number): void {
    this.#readings.get(partition)?.cancelRetry();
    this.#readings.set(partition, new PartitionReading(partition, offset, this.#topicId));
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

  /** Forgets all other partitions. */
  keepOnly(partitions: ReadonlySet<number>): void {
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
        const led = byLeader.get(nodeId);
        if (led === undefined) byLeader.set(nodeId, [reading]);
        else led.push(reading);
      } catch (error) {
        this.#backOff(link, reading, error);
      }
    }
    for (const [nodeId, readings] of byLeader) {
      if (!this.#fetching.has(nodeId)) void this.#fetchFrom(link, nodeId, readings);
    }
  }

  async #fetchFrom(link: ClusterLink, nodeId: number, readings: readonly PartitionReading[]): Promise<void> {
    this.#fetching.add(nodeId);
    let broker: Broker | null = null;
    try {
      await link.cluster.refreshMetadataIfNecessary();
      broker = await link.cluster.findBroker({ nodeId });
      const request = { topic: this.#topic, positions: this.#inTurn(readings), limits: LIMITS };
      const { partitions } = await timed(fetchTopic(broker, request), this.#handlers.onAnswer);
      // A response of a destroyed link is discarded. Its partitions are fetched again below.
      if (!this.#stopped && this.#link === link) {
        this.#reconnectMs = RECONNECT_MS_MIN;
        this.#handlers.onConnection(null);
        for (const fetched of partitions) await this.#receive(link, readings, fetched);
      }
    } catch (error) {
      if (broker !== null) link.dropBroker(broker);
      for (const reading of readings) this.#backOff(link, reading, error);
    } finally {
      this.#fetching.delete(nodeId);
    }
    this.#fetchIdle();
  }

  /** Brokers fill a response in the order of the request, so each fetch begins with another partition. */
  #inTurn(readings: readonly PartitionReading[]): { partition: number; offset: number }[] {
    const first = this.#turn++ % readings.length;
    return [...readings.slice(first), ...readings.slice(0, first)].map(({ partition, offset }) => ({
      partition,
      offset,
    }));
  }

  async #receive(link: ClusterLink, readings: readonly PartitionReading[], fetched: FetchedPartition): Promise<void> {
    const reading = readings.find(({ partition }) => partition === fetched.partition);
    if (reading === undefined || !this.#isCurrent(reading)) return;
    try {
      if (fetched.errorCode !== 0) {
        const error = errorFromCode(fetched.errorCode);
        if (protocolErrorType(error) !== 'OFFSET_OUT_OF_RANGE') throw error;
        // A paused partition delivers nothing: it is located when it is fetched again.
        if (!reading.paused) await this.#relocate(link, reading);
      } else if (!reading.paused) this.#deliver(reading, fetched);
    } catch (error) {
      this.#backOff(link, reading, error);
      return;
    }
    if (reading.recovered()) this.#handlers.onStalled(reading.partition, null);
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
    const { partition } = reading;
    const records: InputRecord[] = [];
    const headers = this.#handlers.headers ?? [];
    const bytes = Buffer.from(fetched.records);
    const options = { fromOffset: reading.offset, aborted: fetched.aborted };
    decodeRecords(bytes, options, (offset, timestampMs, key, value, readHeaders) => {
      const record = { partition, offset, timestampMs, key, value };
      const passed = headers.length === 0 ? null : pickHeaders(readHeaders(), headers);
      records.push(passed === null ? record : { ...record, headers: passed });
    });
    reading.offset = Math.max(reading.offset, endOffset(fetched.records) ?? 0);
    this.#handlers.onFetch?.({
      partition,
      records: records.length,
      bytes: fetched.records.length,
      nextOffset: reading.offset,
      endOffset: fetched.endOffset,
    });
    if (records.length > 0) this.#handlers.onRecords(partition, records);
  }

  /** The position cannot be read any more. Delivers the skipped range in place of its records. */
  async #relocate(link: ClusterLink, reading: PartitionReading): Promise<void> {
    const { partition, offset, topicId } = reading;
    const lost = { topic: this.#topic, partition, offset, topicId };
    const found = await locatePosition(link.cluster, lost);
    if (found === null) throw errorFromCode(OFFSET_NOT_AVAILABLE);
    if (!this.#isCurrent(reading) || reading.paused) return;
    const { skipped } = found;
    const text = `Offset ${offset} of partition ${partition} of ${this.#topic} is gone`;
    this.#handlers.log?.('error', `${text}; reading continues at ${found.offset}`, { partition, ...skipped });
    reading.offset = found.offset;
    reading.topicId = found.topicId;
    // Partitions that were started before still have the id that their offsets belong to.
    this.#topicId = found.topicId;
    const place = { partition, offset: found.offset - 1, timestampMs: NO_TIMESTAMP };
    this.#handlers.onRecords(partition, [{ ...place, key: null, value: null, skipped }]);
  }

  /** Retries one partition later, with new metadata. */
  #backOff(link: ClusterLink, reading: PartitionReading, error: unknown): void {
    if (this.#link !== link || !this.#isCurrent(reading)) return;
    const { partition } = reading;
    const failure = explainFailure(error, `partition ${partition} of ${this.#topic} was read`);
    const becameStalled = reading.backOff(failure, () => void this.#retryPartition());
    if (failure.code === 'configuration') this.#handlers.onFatal(failure);
    else if (becameStalled) {
      this.#handlers.log?.('warn', failure.message, { partition });
      this.#handlers.onStalled(partition, failure);
    }
  }

  async #retryPartition(): Promise<void> {
    const link = this.#link;
    if (link === null || this.#reconnecting || this.#stopped) return;
    try {
      await link.cluster.refreshMetadata();
    } catch (error) {
      if (this.#link === link) this.#reconnectLater(error);
      return;
    }
    this.#fetchIdle();
  }

  /** No broker answers: opens all connections anew, with back-off. */
  #reconnectLater(error: unknown): void {
    if (this.#stopped || this.#reconnecting) return;
    const failure = explainFailure(error, `topic ${this.#topic} was read`);
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
