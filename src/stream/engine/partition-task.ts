import { setTimeout } from 'node:timers/promises';
import type { WorkerLimits } from '../../config/config.ts';
import type { InputRecord, PartitionSession, StreamLog, Subscription } from '../log/log.ts';
import { CommitWatch } from './commit/commit-watch.ts';
import { firstCommit, type RestoredState } from './commit/first-commit.ts';
import { type CommitFormat, PendingCommit } from './commit/pending-commit.ts';
import { QuietPartition } from './commit/quiet-partition.ts';
import type { Scoring } from './commit/score-records.ts';
import { type RecordTaking, splitBytesMax, takeRecords } from './commit/take-records.ts';
import { CommitSchedule, RETRY_MS_MAX, RETRY_MS_MIN } from './commit-schedule.ts';
import type { EngineReports } from './engine-reports.ts';
import { FailingRecords, isFatal, isRecordFailure, type TriedRecords } from './failing-records.ts';
import type { MemoryGuard } from './memory-guard.ts';
import { PartitionInput } from './partition-input.ts';
import { reportResume } from './report-resume.ts';
import { PartitionState } from './state/partition-state.ts';
import type { UnitPlaces } from './state/partition-units.ts';
import { type Restored, refuseOtherPartitionCount, restorePartition } from './state/restore-partition.ts';
import type { WorkerPace } from './state/worker-pace.ts';
import type { BoundDetector } from './unit/bound-detector.ts';
import { WakeableSleep } from './wakeable-sleep.ts';
import { fillFromHistory, type WarmStart } from './warm-start.ts';

/** Most bytes of the input records of a transaction, but for one more record; `commitRecordsMax` holds, too. */
export const COMMIT_BYTES_MAX = 16 * 1024 * 1024;

export interface PartitionTaskOptions extends CommitFormat, Scoring, RecordTaking {
  readonly log: StreamLog;
  readonly limits: WorkerLimits;
  readonly partitionCount: number;
  readonly detectorNamed: ReadonlyMap<string, BoundDetector>;
  readonly detectorsVersion: number;
  readonly places: UnitPlaces;
  readonly reports: EngineReports;
  readonly memory: MemoryGuard;
  readonly warmStart: WarmStart | null;
  /** Both of all partitions of the worker together. */
  readonly transactionPace: WorkerPace;
  readonly backfillPace: WorkerPace;
  readonly onFatal: (error: Error) => void;
  /** Resolves when an earlier task of the partition has ended. */
  readonly free: Promise<Subscription>;
  /**
   * Resolves when the partition of each group is known: every partition of the assignment has tried its first restore.
   */
  readonly placesKnown: Promise<unknown>;
}

interface RestoredTask extends RestoredState {
  readonly onCommitted: () => void;
}

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
 * While a transaction commits, the next records are scored. Transactions begin `commitIntervalMs` apart. With a lag, a
 * transaction begins when `commitRecordsMax` records are scored: fewer and larger transactions are cheaper.
 */
export class PartitionTask {
  readonly #options: PartitionTaskOptions;
  readonly #input: PartitionInput;
  readonly #stop = new AbortController();
  #subscription: Subscription | null = null;
  readonly #sleeper = new WakeableSleep();
  readonly #failing = new FailingRecords();
  readonly #commits: CommitWatch;
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
    this.finished = this.#run();
  }

  /** Why its transactions make no progress; null where they do. */
  get stalled(): Error | null {
    return this.#commits.stalled;
  }

  push(records: readonly InputRecord[]): void {
    this.#input.push(records);
    this.#sleeper.wake();
  }

  /** Stops after the transaction in flight. Records that were scored after it are scored again by the next owner. */
  stop(): Promise<void> {
    this.#stop.abort();
    this.#onRestoreTried();
    this.#sleeper.wake();
    return this.finished;
  }

  async #run(): Promise<void> {
    const { free, places, place } = this.#options;
    this.#subscription = await free;
    try {
      await this.#ownUntilStopped();
    } finally {
      this.#input.stop();
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
    const { state, onCommitted } = task;
    const { journal, resume } = task.restored;
    const { limits, place, reports, nowMs, splitter } = this.#options;
    const { signal } = this.#stop;
    let pending = firstCommit(this.#options, task);
    state.all.resumeBackfills(pending);
    const quiet = new QuietPartition(nowMs);
    let recreated = false;
    let failure: unknown = null;
    let committing: Promise<void> | null = null;
    const schedule = new CommitSchedule(limits.commitIntervalMs, this.#options.transactionPace);
    let bytesLeft = COMMIT_BYTES_MAX;
    const commit = async (commitOf: PendingCommit) => {
      const startedMs = performance.now();
      schedule.began(startedMs);
      const backfills = state.backfills.waiting;
      try {
        const { records, nextOffset, newestEventMs } = commitOf;
        const tally = commitOf.takeTally();
        const { findings, metadata } = state.watch.add(tally.input, state.clock.ms);
        const outputs = commitOf.outputs(journal, resume.topicId, state.clock.state);
        await this.#commits.watch(nextOffset, () => session.commit(outputs, nextOffset, metadata));
        onCommitted();
        this.#failing.committed(nextOffset);
        const seconds = (performance.now() - startedMs) / 1000;
        reports.committed(place.partition, { records, seconds, nextOffset, newestEventMs, backfills, findings }, tally);
      } catch (error) {
        this.#tried = commitOf;
        failure = error;
      } finally {
        committing = null;
        this.#sleeper.wake();
      }
    };
    try {
      for (;;) {
        if (failure !== null) throw failure;
        signal.throwIfAborted();
        this.#backfill(state, pending);
        const recordsMax = Math.min(limits.commitRecordsMax, this.#failing.recordsMax);
        const bytesMax = splitter === null ? bytesLeft : splitBytesMax(bytesLeft, pending);
        const room = bytesMax > 0 ? recordsMax - pending.records : 0;
        if (!recreated && this.#input.records > 0 && room > 0) {
          const waitingBytes = this.#input.bytes;
          const records = this.#input.take(room, bytesMax);
          bytesLeft -= waitingBytes - this.#input.bytes;
          recreated = records[0]?.skipped?.reason === 'topic-recreated';
          if (recreated) continue;
          const { advances } = state;
          await this.#score(records, state, pending);
          if (state.advances > advances) quiet.observe();
          reports.holding(place.partition, {
            units: state.units.size,
            queuedRecords: this.#input.records,
            journalBytes: journal.bytes,
            stateBytes: state.bytes,
          });
          continue;
        }
        if (committing === null && pending.isDue) {
          const waitMs = schedule.waitMs(performance.now(), room <= 0 || recreated);
          if (waitMs <= 0) {
            committing = commit(pending);
            pending = new PendingCommit(this.#options, nowMs, pending.nextOffset);
            bytesLeft = COMMIT_BYTES_MAX;
          } else await this.#sleeper.sleep(state.backfills.sleepMs(waitMs));
        } else if (recreated && committing === null) return;
        else if (committing === null && (quiet.waitMs ?? 1) <= 0) await quiet.report(state, pending, signal);
        else await this.#sleeper.sleep(state.backfills.sleepMs(committing === null ? quiet.waitMs : null));
      }
    } finally {
      await committing;
    }
  }

  async #score(records: readonly InputRecord[], state: PartitionState, pending: PendingCommit): Promise<void> {
    const nextOffset = (records.at(-1)?.offset ?? 0) + 1;
    this.#tried = { records: pending.records + records.length, nextOffset };
    const whyFailed = (offset: number) => this.#failing.whyFailed(offset);
    const context = { state, pending, scoring: this.#options, whyFailed, signal: this.#stop.signal };
    await takeRecords(records, this.#options, context);
  }

  /** Backfills in the background, a round at a time. */
  #backfill(state: PartitionState, pending: PendingCommit): void {
    // No record is to blame where the model fails in it.
    if (state.backfills.size > 0) this.#tried = null;
    state.backfills.step({ sink: pending, signal: this.#stop.signal, wake: () => this.#sleeper.wake() });
  }
}
