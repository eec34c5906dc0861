import { setTimeout as sleep } from 'node:timers/promises';
import type { InputRecord } from '../../../engine/log/log.ts';
import { ServiceError } from '../../../ops/service-error.ts';
import type { BandPartition } from './band-partition.ts';

/** From a failure of a partition to the next attempt. */
const RESTART_MS = 1_000;

interface BandPartitionsOptions {
  open(partition: number): BandPartition;
  stalled(partition: number, reason: string | null): void;
  onFatal(error: Error): void;
}

/** The partitions of this process, each in a run of its own. */
export class BandPartitions {
  readonly #options: BandPartitionsOptions;
  readonly #owned = new Map<number, { readonly band: BandPartition; readonly stop: AbortController }>();
  readonly #running = new Set<Promise<void>>();

  constructor(options: BandPartitionsOptions) {
    this.#options = options;
  }

  push(partition: number, records: readonly InputRecord[]): void {
    this.#owned.get(partition)?.band.push(records);
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
