import type { JournalRecord, StaleState } from '../changelog/journal.ts';
import { closedWindowKeys } from '../changelog/series-state.ts';
import type { StateWriter } from '../changelog/state-bytes.ts';
import type { GroupUnit } from './group-unit.ts';
import type { SeriesUnit } from './series-unit.ts';

/** A unit that cannot be continued as it is. It waits for the next observation of its series. */
export interface StaleUnit extends StaleState {
  /** Input offset of its newest record; -1 where it is not known. */
  readonly newestOffset: number;
  /** Key of the unit that continues it: another one than its own where the detector of a group was renamed. */
  readonly successorKey: string;
  /**
   * The series or group under its old settings, whose values the new one begins with; null where they cannot be read.
   */
  readonly retired: SeriesUnit | GroupUnit | null;
}

/** A state whose bytes are kept. */
export function staleBytes(
  bytes: Buffer,
  { key, reason, newestOffset, orphan }: Pick<StaleUnit, 'key' | 'reason' | 'newestOffset' | 'orphan'>,
): StaleUnit {
  return {
    key,
    successorKey: key,
    reason,
    newestOffset,
    orphan,
    retired: null,
    windowKeys: [],
    journalRecord: null as JournalRecord | null,
    openStateBytes: bytes.length,
    writeOpenState: (writer: StateWriter) => writer.bytes(bytes),
  };
}

/** A series or group that was made under other settings. */
export function retiredUnit(
  unit: SeriesUnit | GroupUnit,
  { orphan, successorKey }: Pick<StaleUnit, 'orphan' | 'successorKey'>,
): StaleUnit {
  return {
    key: unit.key,
    successorKey,
    reason: 'settings-changed',
    newestOffset: unit.newestOffset,
    orphan,
    retired: unit,
    windowKeys: unit.changelogSeries().flatMap(closedWindowKeys),
    journalRecord: unit.journalRecord,
    openStateBytes: unit.openStateBytes,
    writeOpenState: (writer: StateWriter) => unit.writeOpenState(writer),
  };
}
