import { setTimeout } from 'node:timers/promises';
import type { WorkerLimits } from '../config/options/options.ts';
import type { InputPlace } from '../records/score-record.ts';
import { CommitWatch } from './commit/commit-watch.ts';
import { CommitSchedule, RETRY_MS_MAX, RETRY_MS_MIN } from './commit-schedule.ts';
import type { EngineReports } from './engine-reports.ts';
import { FailingRecords, isFatal, isRecordFailure } from './failing-records.ts';
import type { PartitionSession, StreamLog, Subscription } from './log/log.ts';
import type { MemoryGuard } from './memory-guard.ts';
import { PartitionInput } from './partition-input.ts';
import type { RecordOrder } from './record-order.ts';
import type { UnitPlaces } from './state/partition-units.ts';
import type { WorkerPace } from './state/worker-pace.ts';
import type {
  FilledTransaction,
  PartitionStrategy,
  StrategyContext,
  TriedRecords,
} from './strategy/partition-strategy.ts';
import { WakeableSleep } from './wakeable-sleep.ts';

interface PartitionTaskOptions {
  readonly place: InputPlace;
  readonly log: StreamLog;
  readonly limits: WorkerLimits;
  readonly places: UnitPlaces;
  readonly reports: EngineReports;
  readonly memory: MemoryGuard;
  /** In which order records of the partitions are rekeyed; null if they are scored. */
  readonly order: RecordOrder | null;
  /** It is that of all partitions of the worker together. */
  readonly transactionPace: WorkerPace;
  readonly strategyFor: (place: InputPlace, context: StrategyContext) => PartitionStrategy;
  readonly onFatal: (error: Error) => void;
  /** Resolves when an earlier task of the partition has ended. */
  readonly free: Promise<Subscription>;
  /**
   * Resolves when the partition of each group is known: every partition of the assignment has tried its first restore.
   */
  readonly placesKnown: Promise<unknown>;
}

/**
 * Owns one partition from assignment to revocation:
 *
 *   open session (fences earlier owners) -> restore -> submit records, poll, commit, submit, ... -> stop
 *        ^                                                      |
 *        +---- wait <---- discard everything <---- any failure -+
 *
 * With groups, it takes no record before the other partitions of the assignment are restored as well. Until then it
 * does not know which groups those partitions own.
 *
 * While a transaction commits, the strategy takes in the next records. Transactions begin `commitIntervalMs` apart, and
 * one that is due waits for no forecast. With a lag, one begins when `commitRecordsMax` records are taken in: fewer and
 * larger transactions are cheaper.
 */
export class PartitionTask {
  readonly #options: PartitionTaskOptions;
  readonly #input: PartitionInput;
  readonly #stop = new AbortController();
  #subscription: Subscription | null = null;
  readonly #sleeper = new WakeableSleep();
  readonly #failing = new FailingRecords();
  readonly #commits: CommitWatch;
  /** Times of the first records of the transaction that commits, and of the next one; null if there are none. */
  #fronts: readonly [committing: number | null, pending: number | null] = [null, null];
  /** The transaction that is tried now; null before the restore. */
  #tried: TriedRecords | null = null;
  #committing: Promise<void> | null = null;
  #commitFailure: unknown = null;
  readonly finished: Promise<void>;
  /** Resolves when the first restore has succeeded or failed, or the task was stopped. */
  readonly restoreTried: Promise<void>;
  #onRestoreTried: () => void;
  restoring = true;
  /** Reason why the last attempt failed; null once the partition is restored. */
  failure: Error | null = null;

  constructor(options: PartitionTaskOptions) {
    this.#options = options;
    const { place, limits, reports, memory } = options;
    const { partition } = place;
    const onPaused = (paused: boolean) => reports.paused(partition, paused);
    this.#input = new PartitionInput({ partition, queueRecordsMax: limits.queueRecordsMax, onPaused, memory });
    this.#commits = new CommitWatch((error) => reports.stalled(partition, error));
    const tried = Promise.withResolvers<void>();
    this.restoreTried = tried.promise;
    this.#onRestoreTried = tried.resolve;
    this.#enterOrder();
    this.finished = this.#run();
  }

  /** Why its transactions make no progress; null if they do. */
  get stalled(): Error | null {
    return this.#commits.stalled;
  }

  accept(...delivered: Parameters<PartitionInput['accept']>): void {
    this.#input.accept(...delivered);
    if (!this.restoring) this.#setFront();
    this.#sleeper.wake();
  }

  /** Stops after the transaction in flight. Records that were scored after it are scored again by the next owner. */
  stop(): Promise<void> {
    this.#stop.abort();
    this.#onRestoreTried();
    this.#sleeper.wake();
    return this.finished;
  }

  /** The others wait for what it reads first, but not while it fails. */
  #enterOrder(): void {
    this.#options.order?.enter(this.#options.place.partition, () => this.#sleeper.wake());
  }

  #setFront(fronts = this.#fronts): void {
    this.#fronts = fronts;
    const [committing, pending] = fronts;
    this.#options.order?.setFront(this.#options.place.partition, committing ?? pending ?? this.#input.headMs);
  }

  async #run(): Promise<void> {
    const { free, places, place } = this.#options;
    this.#subscription = await free;
    try {
      await this.#ownUntilStopped();
    } finally {
      this.#input.stop();
      this.#options.order?.leave(place.partition);
      for (const [key, partition] of places) if (partition === place.partition) places.delete(key);
    }
  }

  async #ownUntilStopped(): Promise<void> {
    const { signal } = this.#stop;
    let delayMs = RETRY_MS_MIN;
    while (!signal.aborted) {
      try {
        await this.#own(() => {
          delayMs = RETRY_MS_MIN;
        });
        // The input topic was created again, or series were filled from a history. The restore starts over.
        this.restoring = true;
        await setTimeout(RETRY_MS_MIN, null, { signal }).catch(() => null);
      } catch (cause) {
        if (signal.aborted) return;
        const error = cause instanceof Error ? cause : new Error(String(cause));
        if (isFatal(error)) return this.#options.onFatal(error);
        if (this.#searchRecord(error)) delayMs = RETRY_MS_MIN;
        this.restoring = true;
        this.failure = error;
        this.#enterOrder();
        this.#onRestoreTried();
        this.#options.reports.retrying(this.#options.place.partition, error, delayMs);
        await setTimeout(delayMs, null, { signal }).catch(() => null);
        delayMs = Math.min(delayMs * 2, RETRY_MS_MAX);
      }
    }
  }

  /** True while a record is searched, or if one was found, that makes its transaction fail. */
  #searchRecord(error: Error): boolean {
    if (this.#tried === null || !isRecordFailure(error)) return false;
    const { place, reports } = this.#options;
    const { records } = this.#tried;
    const found = this.#failing.failed(this.#tried, error);
    this.#tried = null;
    if (found !== null) reports.recordFailed(place.partition, found, error);
    return records > 1 || found !== null;
  }

  async #own(onCommitted: () => void): Promise<void> {
    const { log, place, placesKnown, strategyFor } = this.#options;
    const { signal } = this.#stop;
    this.#tried = null;
    this.#commitFailure = null;
    await this.#subscription?.confirm(place.partition, signal);
    const session = await log.openPartition(place.partition, signal, (error) => {
      if (this.restoring) this.failure = error;
      else this.#commits.retried(error);
    });
    const wake = () => this.#sleeper.wake();
    const whyFailed = (offset: number) => this.#failing.whyFailed(offset);
    const strategy = strategyFor(place, { signal, wake, whyFailed, inputEnd: () => this.#input.end });
    try {
      const offset = await strategy.restore(session);
      if (offset === null) return;
      this.#onRestoreTried();
      signal.throwIfAborted();
      this.#commits.restored(offset);
      await placesKnown;
      signal.throwIfAborted();
      if (this.#subscription !== null) this.#input.start(this.#subscription, offset, session.inputTopicId);
      this.#setFront([null, null]);
      this.restoring = false;
      this.failure = null;
      await this.#process(strategy, (filled) => this.#commit(session, filled, onCommitted));
    } catch (error) {
      if (error !== this.#commitFailure) this.#tried = strategy.tried;
      throw error;
    } finally {
      await this.#committing;
      await session.close();
    }
  }

  /** Resolves once the input topic was created again, and what was read of the old one is committed. */
  async #process(strategy: PartitionStrategy, commit: (filled: FilledTransaction) => Promise<void>): Promise<void> {
    const { limits, order, place, transactionPace } = this.#options;
    const schedule = new CommitSchedule(limits.commitIntervalMs, transactionPace);
    let recreated = false;
    for (;;) {
      if (this.#commitFailure !== null) throw this.#commitFailure;
      this.#stop.signal.throwIfAborted();
      strategy.poll();
      const { submitted } = strategy;
      const isFree = this.#committing === null;
      const recordsMax = Math.min(limits.commitRecordsMax, this.#failing.recordsMax);
      const room = strategy.bytesLeft > 0 ? recordsMax - strategy.records : 0;
      const untilMs = order?.limitOf(place.partition, isFree);
      const isAhead = untilMs !== undefined && (this.#input.headMs ?? untilMs) > untilMs;
      const isRead = this.#input.records === 0 || recreated;
      if (submitted === 0 && !isRead && room > 0 && !isAhead) {
        recreated = await this.#submitNext(strategy, room, untilMs);
        continue;
      }
      if (submitted === 0 && isRead && !recreated) strategy.reach(this.#input.nextOffset);
      // Then the transaction is filled first, also with records that wait for forecasts: a large one is cheaper.
      const isLagging = submitted > 0 && submitted + this.#input.records >= room;
      const isFull = submitted === 0 && (room <= 0 || recreated || isAhead);
      const mayCommit = isFree && strategy.isDue && !isLagging;
      const waitMs = mayCommit ? schedule.waitMs(performance.now(), isFull) : null;
      const isReady = isLagging || strategy.isReady();
      // What can be taken in at once is part of a transaction that is due, for a moment.
      if (waitMs !== null && waitMs <= (isReady ? -schedule.lateMsMax : 0)) {
        schedule.began(performance.now());
        this.#track(commit(strategy.drain()));
      } else if (isReady) await this.#advance(strategy, isLagging);
      else if (waitMs !== null || submitted > 0) await this.#sleeper.sleep(strategy.sleepMs(waitMs));
      else if (recreated && isFree) return;
      else if (isFree && (strategy.quietMs ?? 1) <= 0) await strategy.advance(false);
      else await this.#sleeper.sleep(strategy.sleepMs(isFree ? strategy.quietMs : null));
    }
  }

  /** Returns whether the input topic was created again, instead of submitting what is read of the new one. */
  async #submitNext(strategy: PartitionStrategy, room: number, untilMs: number | undefined): Promise<boolean> {
    const waitingBytes = this.#input.bytes;
    const records = this.#input.pop(room, strategy.bytesLeft, untilMs);
    this.#setFront([this.#fronts[0], this.#fronts[1] ?? records[0]?.timestampMs ?? null]);
    if (records[0]?.skipped?.reason === 'topic-recreated') return true;
    await strategy.submit(records, waitingBytes - this.#input.bytes);
    return false;
  }

  async #advance(strategy: PartitionStrategy, isLagging: boolean): Promise<void> {
    await strategy.advance(isLagging);
    const held = { ...strategy.held, queuedRecords: this.#input.records };
    this.#options.reports.holding(this.#options.place.partition, held);
  }

  /** Follows a transaction that commits meanwhile. */
  #track(committing: Promise<void>): void {
    this.#setFront([this.#fronts[1], null]);
    this.#committing = committing.finally(() => {
      this.#committing = null;
      this.#setFront([null, this.#fronts[1]]);
      this.#sleeper.wake();
    });
  }

  /** Never rejects. */
  async #commit(session: PartitionSession, filled: FilledTransaction, onCommitted: () => void): Promise<void> {
    const { place, reports } = this.#options;
    const { outputs, records, nextOffset, metadata, tally, ...commit } = filled;
    const startedMs = performance.now();
    try {
      await this.#commits.watch(nextOffset, () => session.commit(outputs, nextOffset, metadata));
    } catch (error) {
      this.#tried = { records, nextOffset };
      this.#commitFailure = error;
      return;
    }
    onCommitted();
    this.#failing.committed(nextOffset);
    const seconds = (performance.now() - startedMs) / 1000;
    reports.committed(place.partition, { ...commit, records, nextOffset, seconds }, tally);
  }
}
