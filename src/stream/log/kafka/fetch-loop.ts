import type { ServiceError } from '../../../service-error.ts';
import type { InputRecord } from '../log.ts';
import { type ClusterLink, type KafkaConnection, linkCluster } from './connection.ts';
import { explainFailure, protocolErrorType } from './failure.ts';
import { type FetchedPartition, type FetchLimits, fetchTopic } from './fetch.ts';
import { errorFromCode } from './kafkajs-internals.ts';
import { isLeaderChange, leaderOf } from './leader.ts';
import { stableRange } from './partition-reader.ts';
import { decodeRecords, endOffset } from './record-batch-decoder.ts';

/** A short wait: a partition that is started or resumed is not part of the fetch in flight. */
const LIMITS: FetchLimits = { waitMsMax: 100, partitionBytesMax: 1024 * 1024, responseBytesMax: 4 * 1024 * 1024 };
const RETRY_MS_MIN = 50;
const RETRY_MS_MAX = 1_000;
export interface FetchReport {
  readonly partition: number;
  readonly records: number;
  readonly bytes: number;
  /** Position of the next fetch, and end of the partition. Their difference is the lag. */
  readonly nextOffset: number;
  readonly endOffset: number;
}

export interface FetchHandlers {
  onRecords(partition: number, records: readonly InputRecord[]): void;
  onConnection(error: ServiceError | null): void;
  onFatal(error: ServiceError): void;
  onFetch?(report: FetchReport): void;
}

/** The position in a partition. Every start makes a new object, so that responses for an older one are discarded. */
interface Reading {
  readonly partition: number;
  offset: number;
  paused: boolean;
  /** Fetched while paused. It is delivered at resume, and nothing is fetched before. */
  held: FetchedPartition | null;
}

/**
 * Fetches the started partitions of a topic, with one request in flight to each broker. It recovers from every failure
 * of a broker.
 */
export class FetchLoop {
  readonly #connection: KafkaConnection;
  readonly #topic: string;
  readonly #handlers: FetchHandlers;
  readonly #readings = new Map<number, Reading>();
  readonly #fetching = new Set<number>();
  #link: ClusterLink | null = null;
  #recovering = false;
  #stopped = false;
  #retryMs = RETRY_MS_MIN;
  #retry: NodeJS.Timeout | undefined;
  #turn = 0;

  constructor(connection: KafkaConnection, topic: string, handlers: FetchHandlers) {
    this.#connection = connection;
    this.#topic = topic;
    this.#handlers = handlers;
  }

  /** Connects for the first time. Throws a ServiceError when that fails. */
  async open(): Promise<void> {
    try {
      this.#link = await linkCluster(this.#connection, [this.#topic]);
    } catch (error) {
      throw explainFailure(error, `topic ${this.#topic} was opened`);
    }
  }

  start(partition: number, offset: number): void {
    this.#readings.set(partition, { partition, offset, paused: false, held: null });
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

  forgetAll(): void {
    this.#readings.clear();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#retry);
    this.#readings.clear();
    this.#link?.destroy();
  }

  /** Sends a fetch to every leader of readable partitions that has none in flight. */
  #fetchIdle(): void {
    const link = this.#link;
    if (link === null || this.#recovering || this.#stopped) return;
    try {
      const readable = [...this.#readings.values()].filter(({ paused, held }) => !paused && held === null);
      const byLeader = Map.groupBy(readable, ({ partition }) => leaderOf(link.cluster, this.#topic, partition));
      for (const [nodeId, readings] of byLeader) {
        if (!this.#fetching.has(nodeId)) void this.#fetchFrom(link, nodeId, readings);
      }
    } catch (error) {
      this.#recover(error);
    }
  }

  async #fetchFrom(link: ClusterLink, nodeId: number, readings: readonly Reading[]): Promise<void> {
    this.#fetching.add(nodeId);
    try {
      await link.cluster.refreshMetadataIfNecessary();
      const broker = await link.cluster.findBroker({ nodeId });
      const request = { topic: this.#topic, positions: this.#inTurn(readings), limits: LIMITS };
      const response = await fetchTopic(broker, request);
      // A response of a destroyed link is discarded. Its partitions are fetched again below.
      if (!this.#stopped && this.#link === link) {
        this.#retryMs = RETRY_MS_MIN;
        this.#handlers.onConnection(null);
        await this.#receiveAll(link, readings, response.partitions);
      }
    } catch (error) {
      if (this.#link === link) this.#recover(error);
    } finally {
      this.#fetching.delete(nodeId);
    }
    this.#fetchIdle();
  }

  /** Brokers fill a response in the order of the request, so each fetch begins with another partition. */
  #inTurn(readings: readonly Reading[]): { partition: number; offset: number }[] {
    const first = this.#turn++ % readings.length;
    return [...readings.slice(first), ...readings.slice(0, first)].map(({ partition, offset }) => ({
      partition,
      offset,
    }));
  }

  async #receiveAll(
    link: ClusterLink,
    readings: readonly Reading[],
    partitions: readonly FetchedPartition[],
  ): Promise<void> {
    for (const fetched of partitions) {
      const reading = readings.find(({ partition }) => partition === fetched.partition);
      if (reading !== undefined && this.#readings.get(reading.partition) === reading) {
        await this.#receive(link, reading, fetched);
      }
    }
  }

  async #receive(link: ClusterLink, reading: Reading, fetched: FetchedPartition): Promise<void> {
    if (fetched.errorCode !== 0) {
      const error = errorFromCode(fetched.errorCode);
      if (protocolErrorType(error) !== 'OFFSET_OUT_OF_RANGE') throw error;
      await this.#skipToOldest(link, reading);
    } else if (reading.paused) {
      if (fetched.records.length > 0) reading.held = { ...fetched, records: Buffer.from(fetched.records) };
    } else {
      this.#deliver(reading, fetched);
    }
  }

  #deliverHeld(reading: Reading): void {
    const { held } = reading;
    if (this.#stopped || reading.paused || held === null || this.#readings.get(reading.partition) !== reading) return;
    reading.held = null;
    this.#deliver(reading, held);
    this.#fetchIdle();
  }

  /** Copies the bytes of the partition once. So its records can be kept without the whole response. */
  #deliver(reading: Reading, fetched: FetchedPartition): void {
    const { partition } = reading;
    const records: InputRecord[] = [];
    try {
      const bytes = Buffer.from(fetched.records);
      decodeRecords(
        bytes,
        { fromOffset: reading.offset, aborted: fetched.aborted },
        (offset, timestampMs, key, value) => {
          records.push({ partition, offset, timestampMs, key, value });
        },
      );
    } catch (error) {
      this.#handlers.onFatal(explainFailure(error, `partition ${partition} of ${this.#topic} was decoded`));
      return;
    }
    reading.offset = Math.max(reading.offset, endOffset(fetched.records) ?? 0);
    const { length: bytes } = fetched.records;
    const report = {
      partition,
      records: records.length,
      bytes,
      nextOffset: reading.offset,
      endOffset: fetched.endOffset,
    };
    this.#handlers.onFetch?.(report);
    if (records.length > 0) this.#handlers.onRecords(partition, records);
  }

  /** Retention deleted the position, or the topic was created anew. Continues with the oldest record. */
  async #skipToOldest(link: ClusterLink, reading: Reading): Promise<void> {
    const { partition, offset } = reading;
    const { start } = await stableRange(link.cluster, this.#topic, partition);
    const text = `Offset ${offset} of partition ${partition} of ${this.#topic} is gone; reading goes on at ${start}`;
    this.#connection.log?.('error', text, { partition, offset, start });
    reading.offset = start;
  }

  /** After a failure: refreshes the metadata or connects again, with back-off. */
  #recover(error: unknown): void {
    if (this.#stopped || this.#recovering) return;
    const failure = explainFailure(error, `topic ${this.#topic} was read`);
    if (failure.code === 'configuration') {
      this.#handlers.onFatal(failure);
      return;
    }
    const keepsLink = isLeaderChange(error);
    if (!keepsLink) {
      this.#handlers.onConnection(failure);
      this.#link?.destroy();
      this.#link = null;
    }
    this.#recovering = true;
    this.#retry = setTimeout(() => void this.#reconnect(), this.#retryMs);
    this.#retryMs = Math.min(2 * this.#retryMs, RETRY_MS_MAX);
  }

  async #reconnect(): Promise<void> {
    try {
      if (this.#link !== null) await this.#link.cluster.refreshMetadata();
      else {
        const link = await linkCluster(this.#connection, [this.#topic]);
        if (this.#stopped) link.destroy();
        this.#link = link;
        // Reported here as well: there may be nothing to fetch.
        this.#handlers.onConnection(null);
      }
      this.#recovering = false;
      this.#fetchIdle();
    } catch (error) {
      this.#recovering = false;
      this.#recover(error);
    }
  }
}
