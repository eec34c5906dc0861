import type { WorkerLimits } from '../../config/options/options.ts';
import type { Diagnostic } from '../../records/diagnostics/diagnostic.ts';
import type { DetectorTimes } from '../arrival/detector-times.ts';
import { type FirstCommitOptions, firstCommit } from '../commit/first-commit.ts';
import { PendingCommit } from '../commit/pending-commit.ts';
import type { DecodingOptions } from '../commit/score-records.ts';
import type { Tally } from '../commit/tally.ts';
import type { EngineReports } from '../engine-reports.ts';
import type { InputEnd, InputRecord, OutputRecord, PartitionSession } from '../log/log.ts';
import { PartitionState } from '../state/partition-state.ts';
import type { UnitPlaces } from '../state/partition-units.ts';
import type { ForecastTurns } from '../state/requested-forecasts.ts';
import {
  type DetectorLookup,
  type Restored,
  refuseOtherPartitionCount,
  restorePartition,
} from '../state/restore-partition.ts';
import type { WorkerPace } from '../state/worker-pace.ts';
import { fillFromHistory, type WarmStart } from '../warm-start.ts';
import type { RestoreTurns } from './restore-turns.ts';

/** Most bytes of the input records of a transaction, except for one more record; `commitRecordsMax` holds, too. */
export const COMMIT_BYTES_MAX = 16 * 1024 * 1024;

export interface StrategyOptions extends FirstCommitOptions, DecodingOptions, DetectorLookup {
  readonly limits: Pick<WorkerLimits, 'seriesMax'>;
  readonly places: UnitPlaces;
  readonly reports: EngineReports;
  /** As `detectorOf`, for a restore: it asks once of each series, which need not be remembered. */
  readonly matchDetector: DetectorLookup['detectorOf'];
  readonly warmStart: WarmStart | null;
  /** It is that of all partitions of the worker together. */
  readonly backfillPace: WorkerPace;
  readonly forecastTurns: ForecastTurns;
  readonly restoreTurns: RestoreTurns;
  readonly times: DetectorTimes;
}

export interface StrategyContext {
  readonly signal: AbortSignal;
  /** Called when forecasts have arrived. */
  readonly wake: () => void;
  /** Reason why a record is a dead letter although it can be read; null if it is none. By offset. */
  readonly whyFailed: (offset: number) => string | null;
  /** As that of the subscription. */
  readonly inputEnd: () => InputEnd | null;
}

export interface TriedRecords {
  readonly records: number;
  readonly nextOffset: number;
}

export interface FilledTransaction extends TriedRecords {
  readonly outputs: readonly OutputRecord[];
  /** Kept with the input offset. */
  readonly metadata: string | null;
  readonly newestEventMs: number | null;
  /** Series and groups that wait for their backfill after it. */
  readonly backfills: number;
  readonly diagnostics: readonly Diagnostic[] | null;
  readonly tally: Tally;
}

/**
 * What a partition does with its input: it scores the records, or writes them under other keys. The task of the
 * partition submits records, polls, lets the strategy advance, and commits what it drains.
 */
export abstract class PartitionStrategy {
  protected readonly options: StrategyOptions;
  protected readonly context: StrategyContext;
  protected readonly state: PartitionState;
  /** The next transaction. Set by `restore`, which comes first. */
  protected pending!: PendingCommit;
  #restored!: Restored;
  /** Bytes of records in the next transaction. */
  protected bytes = 0;
  /** The records that are to blame if a call fails; null for none. */
  tried: TriedRecords | null = null;

  constructor(options: StrategyOptions, context: StrategyContext) {
    this.options = options;
    this.context = context;
    const { place, limits, places, backfillPace, forecastTurns } = options;
    this.state = new PartitionState(place, limits.seriesMax, places, backfillPace, forecastTurns);
  }

  /**
   * Reads the state of the partition. Resolves with the offset at which reading continues; null: series were filled
   * from a history, and the partition is to be opened again.
   */
  async restore(session: PartitionSession): Promise<number | null> {
    const { options, state } = this;
    const { reports, place } = options;
    const { signal } = this.context;
    const startedMs = performance.now();
    const restored = await this.#readState(session);
    const offset = restored.resume.offset ?? (await session.oldestOffset());
    if (await fillFromHistory(session, { state, restored, offset }, { ...options, signal })) return null;
    signal.throwIfAborted();
    const seconds = (performance.now() - startedMs) / 1000;
    reports.restored(place.partition, { units: state.units.size, backfills: state.all.queued, seconds });
    reportResume(reports, session, { ...restored.resume, outdated: state.outdated.size });
    this.#restored = restored;
    this.pending = firstCommit(options, { state, restored, offset });
    state.all.resumeBackfills(this.pending);
    return offset;
  }

  async #readState(session: PartitionSession): Promise<Restored> {
    const { signal } = this.context;
    const { reports, place } = this.options;
    signal.throwIfAborted();
    // Reading a changelog may take a minute, and the next owner waits. Closing the session ends it.
    const abandon = () => void session.close();
    signal.addEventListener('abort', abandon);
    const turn = this.options.restoreTurns.open();
    const onProgress = async (share: number) => {
      reports.restoring(place.partition, share);
      // Small ones, which one response has whole, need no turn.
      if (share > 0 && share < 1) await turn.take(signal);
    };
    const lookup = { ...this.options, detectorOf: this.options.matchDetector, onProgress };
    const restored = await restorePartition(session, this.state, lookup).finally(() => {
      signal.removeEventListener('abort', abandon);
      turn.end();
    });
    refuseOtherPartitionCount(restored, this.options);
    return restored;
  }

  get records(): number {
    return this.pending.records;
  }

  get bytesLeft(): number {
    return COMMIT_BYTES_MAX - this.bytes;
  }

  get isDue(): boolean {
    return this.pending.isDue;
  }

  get held() {
    const { state } = this;
    return { units: state.units.size, deltaLogBytes: this.#restored.deltaLog.bytes, stateBytes: state.bytes };
  }

  /** Records that were submitted and are not in the next transaction so far. */
  abstract readonly submitted: number;

  /** Time until the clock decides something, if no record arrives; null: never. */
  abstract readonly quietMs: number | null;

  /** Takes over records of so many bytes. They change nothing yet. Rejects when the schema registry fails. */
  abstract submit(records: readonly InputRecord[], bytes: number): Promise<void>;

  /** Continues what runs in the background. */
  poll(): void {}

  /** True if some of the submitted records wait for no forecast. */
  abstract isReady(): boolean;

  /**
   * Takes in these, or `all` that were submitted; without any, what time alone decides. Rejects when the model fails.
   */
  abstract advance(all: boolean): Promise<void>;

  /** Time that the task sleeps, which would sleep for `atMostMs`; null: until it is woken. */
  sleepMs(atMostMs: number | null): number | null {
    return atMostMs;
  }

  /** All offsets before this one were submitted; some may be markers of transactions. */
  reach(nextOffset: number): void {
    this.pending.reach(nextOffset);
  }

  /** Returns the next transaction. Another one begins. */
  drain(): FilledTransaction {
    const { state, pending } = this;
    const { deltaLog, resume } = this.#restored;
    const { records, nextOffset, newestEventMs } = pending;
    this.pending = new PendingCommit(this.options, this.options.nowMs, nextOffset);
    this.bytes = 0;
    const tally = pending.counters.drain();
    const { diagnostics, metadata } = state.watch.add(tally.input, state.watermark.ms);
    const outputs = pending.drain(deltaLog, resume.topicId, state.watermark.state);
    const backfills = state.backfills.waiting;
    return { outputs, records, nextOffset, newestEventMs, backfills, diagnostics, metadata, tally };
  }

  /** These records are to blame from now on. */
  protected try(records: readonly InputRecord[]): void {
    this.tried = { records: this.records + records.length, nextOffset: (records.at(-1)?.offset ?? 0) + 1 };
  }
}

/** Reports if a partition does not simply continue at its committed offset. */
function reportResume(
  reports: EngineReports,
  { partition, committedOffset }: PartitionSession,
  { from, offset, skipped, outdated }: Restored['resume'] & { readonly outdated: number },
): void {
  if (from === 'committed' && skipped !== null) reports.recordsSkipped(partition, skipped);
  if (from === 'state') reports.resumedFromState(partition, { offset: offset ?? 0, committedOffset });
  if (from === 'start-over') reports.topicRecreated(partition, outdated);
  else if (outdated > 0) reports.settingsChanged(partition, outdated);
}
