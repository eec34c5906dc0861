import type { JournalRecord, StaleState } from '../../checkpoint/journal.ts';
import { type OpenState, openStateSize } from '../../checkpoint/open-states.ts';
import { closedWindowKeys } from '../../checkpoint/series-state.ts';
import type { StateWriter } from '../../checkpoint/state-bytes.ts';
import type { GroupUnit } from '../group/group-unit.ts';
import type { BoundDetector } from '../unit/bound-detector.ts';
import type { DetectionUnit } from '../unit/detection-unit.ts';
import type { SeriesUnit } from '../unit/series-unit.ts';
import type { UnderWatch } from './deadline-watch.ts';

/** When a unit or stale state had its last record, in event time; NaN where that is not known. */
export interface LastHeard {
  readonly arrivedMs: number;
  readonly heardMs: number;
}

export const NEVER_HEARD: LastHeard = { arrivedMs: Number.NaN, heardMs: Number.NEGATIVE_INFINITY };

/** A unit that cannot be continued as it is. It waits for the next observation of its series. */
export interface StaleUnit extends StaleState, LastHeard, UnderWatch {
  /** Moves on as a pause of its detector ends. */
  heardMs: number;
  /** Input offset of its newest record; -1 where it is not known. */
  readonly newestOffset: number;
  /** Key of the unit that continues it: another one than its own where the detector of a group was renamed. */
  readonly successorKey: string;
  /**
   * The series or group under its old settings, whose values the new one begins with; null where they cannot be read.
   */
  readonly retired: SeriesUnit | GroupUnit | null;
  /** The detector that its records go to now; null where none takes them, or it is not known. */
  readonly taker: BoundDetector | null;
  /** Begins with its values, once the backfill has its turn; null before a record. */
  successor: DetectionUnit | null;
  /** After so long in event time it is forgotten; null: never. */
  readonly idleMs: number | null;
}

export function isStale(unit: DetectionUnit | StaleUnit): unit is StaleUnit {
  return 'retired' in unit;
}

/** The detector of a unit, or the one that takes the records of a stale state; null where none does. */
export function detectorOf(one: DetectionUnit | StaleUnit): BoundDetector | null {
  return isStale(one) ? one.taker : one.bound;
}

type StaleOptions = Pick<StaleUnit, 'key' | 'reason' | 'newestOffset' | 'orphan' | 'idleMs' | keyof LastHeard>;

/** A state whose bytes are kept: those of the whole state, and of the changes since. */
export function staleBytes({ bytes, changes }: Pick<OpenState, 'bytes' | 'changes'>, options: StaleOptions): StaleUnit {
  return {
    ...options,
    successorKey: options.key,
    retired: null,
    taker: null,
    successor: null,
    watches: 0,
    windowKeys: [],
    journalRecord: null as JournalRecord | null,
    ...openStateSize({ bytes, changes }),
    writeOpenState: (writer: StateWriter) => writer.bytes(bytes),
    keptChanges: changes,
    writeChange: () => false,
  };
}

/** A series or group that was made under other settings. */
export function retiredUnit(
  unit: SeriesUnit | GroupUnit,
  { orphan, successorKey, idleMs, taker }: Pick<StaleUnit, 'orphan' | 'successorKey' | 'idleMs' | 'taker'>,
): StaleUnit {
  const stale: StaleUnit = {
    taker,
    successor: null,
    watches: 0,
    key: unit.key,
    arrivedMs: unit.arrivedMs,
    heardMs: unit.heardMs,
    idleMs,
    successorKey,
    reason: 'settings-changed',
    newestOffset: unit.newestOffset,
    orphan,
    retired: unit,
    windowKeys: unit.changelogSeries().flatMap(closedWindowKeys),
    journalRecord: unit.journalRecord,
    openStateBytes: unit.openStateBytes,
    changeBytes: unit.changeBytes,
    writeOpenState(writer: StateWriter) {
      if (stale.successor !== null) copyArrivals(stale.successor, unit);
      unit.writeOpenState(writer);
    },
    writeChange: () => false,
  };
  return stale;
}

/** What arrived since is kept with the old state, until the new one replaces it. */
function copyArrivals(from: DetectionUnit, to: DetectionUnit): void {
  const { newestOffset, arrivedMs, heardMs, silent } = from;
  Object.assign(to, { newestOffset, arrivedMs, heardMs, silent });
  to.waiting.take(from.waiting);
}
