import { setTimeout } from 'node:timers/promises';
import { CommitWatch } from './commit/commit-watch.ts';
import { firstCommit } from './commit/first-commit.ts';
import { PendingCommit } from './commit/pending-commit.ts';
import { QuietPartition } from './commit/quiet-partition.ts';
import { type DelayedRecords, type NextRecords, readNext, splitBytesMax } from './commit/take-records.ts';
import { CommitSchedule, RETRY_MS_MAX, RETRY_MS_MIN } from './commit-schedule.ts';
import { FailingRecords, isFatal, isRecordFailure, type TriedRecords } from './failing-records.ts';
import type { InputRecord, PartitionSession, Subscription } from './log/log.ts';
import { PartitionInput } from './partition-input.ts';
import type { PartitionTaskOptions, RestoredTask } from './partition-task-options.ts';
import { reportResume } from './report-resume.ts';
import { PartitionState } from './state/partition-state.ts';
import { type Restored, refuseOtherPartitionCount, restorePartition } from './state/restore-partition.ts';
import { WakeableSleep } from './wakeable-sleep.ts';
import { fillFromHistory } from './warm-start.ts';

/** Most bytes of the input records of a transaction, but for one more record; `commitRecordsMax` holds, too. */
export const COMMIT_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Owns one partition from assignment to revocation:
 *
 *   open session (fences earlier owners) -> restore -> take records, score, commit, take, ... -> stop
 *        ^                                                      |
 *        +---- wait <---- discard everything <---- any failure -+
 *
 * With groups, it takes no record before the other partitions of the assignment are restored as well. Until then it
 * does not know which groups those partitions own.
 *
 * While a transaction commits, the next records are scored, as far as no series needs a forecast that is on its way.
 * Transactions begin `commitIntervalMs` apart, and one that is due waits for no forecast. With a lag, one begins when
 * `commitRecordsMax` records are scored: fewer and larger transactions are cheaper.
 */
export class PartitionTask {
  readonly #options: PartitionTaskOptions;
  readonly #input: PartitionInput;
  readonly #stop = new AbortController();
  #subscription: Subscription | null = null;
  readonly #sleeper = new WakeableSleep();
  readonly #failing = new FailingRecords();
  readonly #commits: CommitWatch;
  /** Times of the first records of the transaction that commits, and of the next one; null where there are none. */
  #fronts: readonly [committing: number | null, pending: number | null] = [null, null];
  /** The transaction that is tried now; null before the restore. */
  #tried: TriedRecords | null = null;
  readonly finished: Promise<void>;
  /** Resolves when the first restore has succeeded or failed, or the task was stopped. */
  readonly restoreTried: Promise<void>;
  #onRestoreTried: () => void;
  restoring = true;
  /** Why the last attempt failed; null once the partition is restored. */
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

  /** Why its transactions make no progress; null where they do. */
  get stalled(): Error | null {
    return this.#commits.stalled;
  }

  push(...delivered: Parameters<PartitionInput['push']>): void {
    this.#input.push(...delivered);
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
        // The input topic was created anew, or series were filled from a history. The restore starts over.
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

  /** Whether a record is searched, or was found, that makes its transaction fail. */
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
    const { log, place, reports, places, placesKnown } = this.#options;
    this.#tried = null;
    await this.#subscription?.confirm(place.partition, this.#stop.signal);
    const session = await log.openPartition(place.partition, this.#stop.signal, (error) => {
      if (this.restoring) this.failure = error;
      else this.#commits.retried(error);
    });
    try {
      const state = new PartitionState(place, this.#options.limits.seriesMax, places, this.#options.backfillPace);
      const startedMs = performance.now();
      const restored = await this.#restore(session, state);
      const offset = restored.resume.offset ?? (await session.oldestOffset());
      const { signal } = this.#stop;
      if (await fillFromHistory(session, { state, restored, offset }, { ...this.#options, signal })) return;
      this.#onRestoreTried();
      this.#stop.signal.throwIfAborted();
      const seconds = (performance.now() - startedMs) / 1000;
      reports.restored(place.partition, { units: state.units.size, backfills: state.all.queued, seconds });
      reportResume(reports, session, { ...restored.resume, stale: state.stale.size });
      this.#commits.restored(offset);
      await placesKnown;
      this.#stop.signal.throwIfAborted();
      if (this.#subscription !== null) this.#input.start(this.#subscription, offset, session.inputTopicId);
      this.#setFront([null, null]);
      this.restoring = false;
      this.failure = null;
      await this.#scoreAndCommit(session, { state, restored, offset, onCommitted });
    } finally {
      await session.close();
    }
  }

  async #restore(session: PartitionSession, state: PartitionState): Promise<Restored> {
    const { signal } = this.#stop;
    signal.throwIfAborted();
    // Reading a changelog may take a minute, and the next owner waits. Closing the session ends it.
    const abandon = () => void session.close();
    signal.addEventListener('abort', abandon);
    const onProgress = (share: number) => this.#options.reports.restoring(this.#options.place.partition, share);
    const restored = await restorePartition(session, state, { ...this.#options, onProgress }).finally(() =>
      signal.removeEventListener('abort', abandon),
    );
    refuseOtherPartitionCount(restored, this.#options);
    return restored;
  }

  async #scoreAndCommit(session: PartitionSession, task: RestoredTask): Promise<void> {
    const { state } = task;
    const { limits, nowMs, splitter, order, place } = this.#options;
    const { signal } = this.#stop;
    let pending = firstCommit(this.#options, task);
    state.all.resumeBackfills(pending);
    const quiet = new QuietPartition(nowMs);
    let recreated = false;
    let failure: unknown = null;
    let committing: Promise<void> | null = null;
    const schedule = new CommitSchedule(limits.commitIntervalMs, this.#options.transactionPace);
    let bytesLeft = COMMIT_BYTES_MAX;
    const commit = (commitOf: PendingCommit) => {
      schedule.began(performance.now());
      this.#setFront([this.#fronts[1], null]);
      const onFailure = (error: unknown) => {
        this.#tried = commitOf;
        failure = error;
      };
      return this.#commit(session, task, commitOf)
        .catch(onFailure)
        .finally(() => {
          committing = null;
          this.#setFront([null, this.#fronts[1]]);
          this.#sleeper.wake();
        });
    };
    let next: NextRecords | null = null;
    let nextBytes = 0;
    try {
      for (;;) {
        if (failure !== null) throw failure;
        signal.throwIfAborted();
        this.#backfill(state, pending);
        const recordsMax = Math.min(limits.commitRecordsMax, this.#failing.recordsMax);
        const bytesMax = splitter === null ? bytesLeft : splitBytesMax(bytesLeft, pending);
        const room = bytesMax > 0 ? recordsMax - pending.records : 0;
        const untilMs = order?.limitOf(place.partition, committing === null);
        const isAhead = untilMs !== undefined && (this.#input.headMs ?? untilMs) > untilMs;
        if (next === null && !recreated && this.#input.records > 0 && room > 0 && !isAhead) {
          const waitingBytes = this.#input.bytes;
          const records = this.#input.take(room, bytesMax, untilMs);
          this.#setFront([this.#fronts[0], this.#fronts[1] ?? records[0]?.timestampMs ?? null]);
          nextBytes = waitingBytes - this.#input.bytes;
          recreated = records[0]?.skipped?.reason === 'topic-recreated';
          if (!recreated) next = await this.#read(records, state, pending);
          continue;
        }
        // Then the transaction is filled first, also where that waits for forecasts: a large one is cheaper.
        const isLagging: boolean = next !== null && next.count + this.#input.records >= room;
        if (next === null && !recreated && this.#input.records === 0) pending.reach(this.#input.nextOffset);
        const mayCommit = committing === null && pending.isDue && !isLagging;
        const isFull = next === null && (room <= 0 || recreated || isAhead);
        const waitMs = mayCommit ? schedule.waitMs(performance.now(), isFull) : null;
        const waiting: DelayedRecords | null = isLagging ? null : this.#awaitForecast(next);
        const awaits = waiting !== null && waiting.ready === null;
        // What can be scored at once is part of a transaction that is due, for a moment.
        if (waitMs !== null && waitMs <= (next === null || awaits ? 0 : -schedule.lateMsMax)) {
          committing = commit(pending);
          pending = new PendingCommit(this.#options, nowMs, pending.nextOffset);
          bytesLeft = COMMIT_BYTES_MAX;
        } else if (next !== null && !awaits) {
          if (await this.#score(waiting?.ready ?? next, pending, task)) quiet.observe();
          if (waiting === null) bytesLeft -= nextBytes;
          next = waiting?.rest ?? null;
        } else if (waitMs !== null || next !== null) await this.#sleeper.sleep(state.backfills.sleepMs(waitMs));
        else if (recreated && committing === null) return;
        else if (committing === null && (quiet.waitMs ?? 1) <= 0) await quiet.report(state, pending, signal);
        else await this.#sleeper.sleep(state.backfills.sleepMs(committing === null ? quiet.waitMs : null));
      }
    } finally {
      await committing;
    }
  }

  async #commit(session: PartitionSession, task: RestoredTask, pending: PendingCommit): Promise<void> {
    const { state, onCommitted } = task;
    const { journal, resume } = task.restored;
    const { place, reports } = this.#options;
    const startedMs = performance.now();
    const backfills = state.backfills.waiting;
    const { records, nextOffset, newestEventMs } = pending;
    const tally = pending.counters.take();
    const { findings, metadata } = state.watch.add(tally.input, state.clock.ms);
    const commit = () =>
      session.commit(pending.drain(journal, resume.topicId, state.clock.state), nextOffset, metadata);
    await this.#commits.watch(nextOffset, commit);
    onCommitted();
    this.#failing.committed(nextOffset);
    const seconds = (performance.now() - startedMs) / 1000;
    reports.committed(place.partition, { records, seconds, nextOffset, newestEventMs, backfills, findings }, tally);
  }

  #read(records: readonly InputRecord[], state: PartitionState, pending: PendingCommit): Promise<NextRecords> {
    this.#tried = { records: pending.records + records.length, nextOffset: (records.at(-1)?.offset ?? 0) + 1 };
    const whyFailed = (offset: number) => this.#failing.whyFailed(offset);
    return readNext(records, this.#options, { state, scoring: this.#options, whyFailed });
  }

  /** Returns whether any of them was the newest of its series, or group. */
  async #score(next: NextRecords, pending: PendingCommit, { state, restored }: RestoredTask): Promise<boolean> {
    const { place, reports } = this.#options;
    const { advances } = state;
    this.#tried = { records: pending.records + next.count, nextOffset: next.nextOffset };
    await next.takeInto(pending, this.#stop.signal);
    reports.holding(place.partition, {
      units: state.units.size,
      queuedRecords: this.#input.records,
      journalBytes: restored.journal.bytes,
      stateBytes: state.bytes,
    });
    return state.advances > advances;
  }

  /** Those that wait for a forecast, which wakes it, and those before them. */
  #awaitForecast(next: NextRecords | null): DelayedRecords | null {
    const waiting = next?.waiting() ?? null;
    waiting?.forecast.catch(() => undefined).then(() => this.#sleeper.wake());
    return waiting;
  }

  /** Backfills in the background, a round at a time. */
  #backfill(state: PartitionState, pending: PendingCommit): void {
    // No record is to blame where the model fails in it.
    if (state.backfills.size > 0) this.#tried = null;
    state.backfills.step({ sink: pending, signal: this.#stop.signal, wake: () => this.#sleeper.wake() });
  }
}
