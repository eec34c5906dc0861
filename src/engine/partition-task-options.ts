import type { WorkerLimits } from '../config/config.ts';
import type { RestoredState } from './commit/first-commit.ts';
import type { CommitFormat } from './commit/pending-commit.ts';
import type { Scoring } from './commit/score-records.ts';
import type { RecordTaking } from './commit/take-records.ts';
import type { EngineReports } from './engine-reports.ts';
import type { StreamLog, Subscription } from './log/log.ts';
import type { MemoryGuard } from './memory-guard.ts';
import type { RecordOrder } from './record-order.ts';
import type { UnitPlaces } from './state/partition-units.ts';
import type { WorkerPace } from './state/worker-pace.ts';
import type { BoundDetector } from './unit/bound-detector.ts';
import type { WarmStart } from './warm-start.ts';

export interface PartitionTaskOptions extends CommitFormat, Scoring, RecordTaking {
  readonly log: StreamLog;
  readonly limits: WorkerLimits;
  readonly partitionCount: number;
  readonly detectorNamed: ReadonlyMap<string, BoundDetector>;
  readonly detectorsVersion: number;
  readonly places: UnitPlaces;
  readonly reports: EngineReports;
  readonly memory: MemoryGuard;
  /** In which order records of the partitions are passed on; null where they are scored. */
  readonly order: RecordOrder | null;
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

export interface RestoredTask extends RestoredState {
  readonly onCommitted: () => void;
}
