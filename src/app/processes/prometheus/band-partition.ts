import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { InputRecord, PartitionSession, Subscription } from '../../../engine/log/log.ts';
import { ServiceError } from '../../../ops/service-error.ts';
import type { RemoteWriter } from '../../../pipelines/remote-write/remote-writer.ts';
import type { LabelOwners } from '../../../pipelines/remote-write/score-labels.ts';
import { type ScoreSamples, samplesOfScores } from '../../../pipelines/remote-write/score-series.ts';
import type { ScoreRecord } from '../../../records/score-record.ts';

/** Scores of one request, and of one commit: four samples each. */
const RECORDS_MAX = 2_000;
/** Records that wait for the receiver; above it the partition is paused. */
const WAITING_MAX = 10_000;
/** Records are gathered for so long, unless they are enough for a request. */
const GATHER_MS = 500;

interface BandPartitionOptions {
  readonly partition: number;
  readonly subscription: Subscription;
  openSession(signal: AbortSignal): Promise<PartitionSession>;
  /** Offset to begin at without a committed position. */
  firstOffset(session: PartitionSession): Promise<number>;
  readonly writer: RemoteWriter;
  readonly owners: LabelOwners;
  shadowed(samples: ScoreSamples['shadowed']): void;
  /** The scores whose bands are written; throws a ServiceError where the registry is away. */
  scoresOf(records: readonly InputRecord[]): Promise<readonly ScoreRecord[]>;
}

/** One ownership of a partition of the scores: reads it, writes the bands, and commits its position after that. */
export class BandPartition {
  readonly #options: BandPartitionOptions;
  readonly #arrived = new EventTarget();
  #waiting: InputRecord[] = [];
  #paused = false;

  constructor(options: BandPartitionOptions) {
    this.#options = options;
  }

  accept(records: readonly InputRecord[]): void {
    this.#waiting.push(...records);
    if (!this.#paused && this.#waiting.length > WAITING_MAX) {
      this.#options.subscription.pause(this.#options.partition);
      this.#paused = true;
    }
    this.#arrived.dispatchEvent(new Event('records'));
  }

  /** Until the signal, whose reason it rejects with, or a failure. Whatever waits then is read again. */
  async run(signal: AbortSignal): Promise<never> {
    const { partition, subscription, openSession, firstOffset, writer, owners, scoresOf } = this.#options;
    await subscription.confirm(partition, signal);
    const session = await openSession(signal);
    try {
      const offset = session.committedOffset ?? (await firstOffset(session));
      if (session.committedOffset === null) await session.commit([], offset);
      [this.#waiting, this.#paused] = [[], false];
      subscription.start(partition, offset, session.inputTopicId);
      for (;;) {
        const records = await this.#drain(signal);
        const { series, shadowed } = samplesOfScores(await scoresOf(records), owners);
        this.#options.shadowed(shadowed);
        await writer.write(series, signal);
        await session.commit([], records[records.length - 1].offset + 1);
      }
    } finally {
      await session.close();
    }
  }

  async #drain(signal: AbortSignal): Promise<readonly InputRecord[]> {
    while (this.#waiting.length === 0) await once(this.#arrived, 'records', { signal });
    if (this.#waiting.length < RECORDS_MAX) await sleep(GATHER_MS, undefined, { signal });
    const records = this.#waiting.splice(0, RECORDS_MAX);
    if (this.#paused && this.#waiting.length < WAITING_MAX / 2) {
      this.#paused = false;
      this.#options.subscription.resume(this.#options.partition);
    }
    return records;
  }
}

/** From a failure of a partition to the next attempt. */
const RESTART_MS = 1_000;

interface BandPartitionsOptions {
  open(partition: number): BandPartition;
  stalled(partition: number, reason: string | null): void;
  onFatal(error: Error): void;
}

export class BandPartitions {
  readonly #options: BandPartitionsOptions;
  readonly #owned = new Map<number, { readonly band: BandPartition; readonly stop: AbortController }>();
  readonly #running = new Set<Promise<void>>();

  constructor(options: BandPartitionsOptions) {
    this.#options = options;
  }

  accept(partition: number, records: readonly InputRecord[]): void {
    this.#owned.get(partition)?.band.accept(records);
  }

  assign(partitions: readonly number[]): void {
    for (const [partition, { stop }] of this.#owned) {
      if (partitions.includes(partition)) continue;
      stop.abort(new ServiceError('internal', `Partition ${partition} was revoked`));
      this.#owned.delete(partition);
    }
    for (const partition of partitions) {
      if (this.#owned.has(partition)) continue;
      const [band, stop] = [this.#options.open(partition), new AbortController()];
      this.#owned.set(partition, { band, stop });
      const run = this.#own(partition, band, stop.signal).finally(() => this.#running.delete(run));
      this.#running.add(run);
    }
  }

  async stop(): Promise<void> {
    this.assign([]);
    await Promise.all(this.#running);
  }

  async #own(partition: number, band: BandPartition, signal: AbortSignal): Promise<void> {
    const { stalled, onFatal } = this.#options;
    while (!signal.aborted) {
      try {
        await band.run(signal);
      } catch (error) {
        if (signal.aborted) break;
        if (!(error instanceof ServiceError)) return onFatal(error as Error);
        stalled(partition, error.message);
        await sleep(RESTART_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    stalled(partition, null);
  }
}
