import { batchEpochs } from '../batch/record-batch-decoder.ts';

/** Records from this offset on were written under this leader epoch. */
interface EpochStart {
  readonly epoch: number;
  readonly from: number;
}

/** Leaders change rarely. What is older than so many changes is forgotten. */
const EPOCHS_MAX = 16;

/**
 * Under which leaders the records were written that are delivered, by partition (KIP-320). After an unclean leader
 * election a log may end earlier under the new leader, and grow again: the offset alone does not show it.
 */
export class LeaderEpochs {
  readonly #starts = new Map<number, EpochStart[]>();

  /** Learns from fetched batches. */
  fetched(partition: number, section: Buffer): void {
    for (const { epoch, baseOffset } of batchEpochs(section)) this.#learn(partition, { epoch, from: baseOffset });
  }

  /** Learns from a committed offset, which has the epoch of the record before it; -1: not known. */
  committed(partition: number, offset: number, epoch: number): void {
    if (epoch >= 0) this.#learn(partition, { epoch, from: offset - 1 });
  }

  /** The epoch of the record before `offset`; -1: not known. */
  before(partition: number, offset: number): number {
    return this.#starts.get(partition)?.findLast(({ from }) => from < offset)?.epoch ?? -1;
  }

  /** Records from `offset` on are lost. */
  truncate(partition: number, offset: number): void {
    const kept = this.#starts.get(partition)?.filter(({ from }) => from < offset) ?? [];
    this.#starts.set(partition, kept);
  }

  keepOnly(partitions: ReadonlySet<number>): void {
    for (const partition of this.#starts.keys()) if (!partitions.has(partition)) this.#starts.delete(partition);
  }

  #learn(partition: number, start: EpochStart): void {
    let starts = this.#starts.get(partition) ?? [];
    const newest = starts.at(-1);
    if (newest !== undefined && newest.epoch === start.epoch && newest.from <= start.from) return;
    // Reading began again at an earlier offset: what follows is learned again.
    if (newest !== undefined && start.from <= newest.from) starts = starts.filter(({ from }) => from < start.from);
    if (starts.at(-1)?.epoch !== start.epoch) starts.push(start);
    this.#starts.set(partition, starts.slice(-EPOCHS_MAX));
  }
}
