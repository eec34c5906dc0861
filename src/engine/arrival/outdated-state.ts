import type { DeltaLogRecord, OutdatedEntry } from '../../checkpoint/delta-log.ts';
import { type OpenState, openStateSize } from '../../checkpoint/open-states.ts';
import { closedWindowKeys } from '../../checkpoint/series/series-state.ts';
import type { StateWriter } from '../../checkpoint/state-bytes.ts';
import type { ScoredGroup } from '../group/scored-group.ts';
import type { LoadedDetector } from '../unit/loaded-detector.ts';
import type { Scorable } from '../unit/scorable.ts';
import type { ScoredSeries } from '../unit/scored-series.ts';
import type { UnderWatch } from './deadline-watch.ts';

/** Time when a unit or outdated state had its last record, in event time; NaN if that is not known. */
export interface LastSeen {
  readonly arrivedMs: number;
  readonly lastSeenMs: number;
}

export const NEVER_SEEN: LastSeen = { arrivedMs: Number.NaN, lastSeenMs: Number.NEGATIVE_INFINITY };

/** A unit that cannot be continued as it is. It waits for the next observation of its series. */
export interface OutdatedState extends OutdatedEntry, LastSeen, UnderWatch {
  /** Moves on as a pause of its detector ends. */
  lastSeenMs: number;
  /** Input offset of its newest record; -1 if it is not known. */
  readonly newestOffset: number;
  /** Key of the unit that continues it: another one than its own where the detector of a group was renamed. */
  readonly migratedKey: string;
  /**
   * The series or group under its old settings, whose values the new one begins with; null if they cannot be read.
   */
  readonly previous: ScoredSeries | ScoredGroup | null;
  /** The detector that its records go to now; null if none takes them, or it is not known. */
  readonly newOwner: LoadedDetector | null;
  /** Begins with its values, in the slot of the backfill; null before a record. */
  migrated: Scorable | null;
  /** After so long in event time it is forgotten; null: never. */
  readonly idleMs: number | null;
}

export function isOutdated(unit: Scorable | OutdatedState): unit is OutdatedState {
  return 'previous' in unit;
}

/** The detector of a unit, or the one that takes the records of an outdated state; null if none does. */
export function detectorOf(one: Scorable | OutdatedState): LoadedDetector | null {
  return isOutdated(one) ? one.newOwner : one.loaded;
}

type OutdatedOptions = Pick<OutdatedState, 'key' | 'reason' | 'newestOffset' | 'orphan' | 'idleMs' | keyof LastSeen>;

/** A state whose bytes are kept: those of the whole state, and of the changes since. */
export function outdatedBytes(
  openState: Pick<OpenState, 'bytes' | 'changes'>,
  options: OutdatedOptions,
): OutdatedState {
  // Copies: its bytes are views of records that are discarded.
  const bytes = Buffer.from(openState.bytes);
  const changes = openState.changes.map((change) => Buffer.from(change));
  return {
    ...options,
    migratedKey: options.key,
    previous: null,
    newOwner: null,
    migrated: null,
    watches: 0,
    windowKeys: [],
    deltaLogRecord: null as DeltaLogRecord | null,
    ...openStateSize({ bytes, changes }),
    writeOpenState: (writer: StateWriter) => writer.bytes(bytes),
    keptChanges: changes,
    writeChange: () => false,
  };
}

/** A series or group that was made under other settings. */
export function outdatedUnit(
  unit: ScoredSeries | ScoredGroup,
  { orphan, migratedKey, idleMs, newOwner }: Pick<OutdatedState, 'orphan' | 'migratedKey' | 'idleMs' | 'newOwner'>,
): OutdatedState {
  const outdated: OutdatedState = {
    newOwner,
    migrated: null,
    watches: 0,
    key: unit.key,
    arrivedMs: unit.arrivedMs,
    lastSeenMs: unit.lastSeenMs,
    idleMs,
    migratedKey,
    reason: 'settings-changed',
    newestOffset: unit.newestOffset,
    orphan,
    previous: unit,
    windowKeys: unit.changelogSeries().flatMap(closedWindowKeys),
    deltaLogRecord: unit.deltaLogRecord,
    openStateBytes: unit.openStateBytes,
    changeBytes: unit.changeBytes,
    writeOpenState(writer: StateWriter) {
      if (outdated.migrated !== null) copyArrivals(outdated.migrated, unit);
      unit.writeOpenState(writer);
    },
    writeChange: () => false,
  };
  return outdated;
}

/** To a unit that continues another one, or back: the old state keeps what arrived until the new one replaces it. */
export function copyArrivals(from: Scorable, to: Scorable): void {
  const { newestOffset, arrivedMs, lastSeenMs, silent } = from;
  Object.assign(to, { newestOffset, arrivedMs, lastSeenMs, silent });
  to.waiting.inherit(from.waiting);
}
