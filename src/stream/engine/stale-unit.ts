import type { JournalRecord, OrphanEvents, StaleState } from '../changelog/journal.ts';
import { closedWindowKeys } from '../changelog/series-state.ts';
import type { StateWriter } from '../changelog/state-bytes.ts';
import type { SeriesUnit } from './series-unit.ts';

/** A unit that cannot be continued as it is. It waits for the next observation of its series. */
export interface StaleUnit extends StaleState {
  /** Input offset of its newest record; -1 where it is not known. */
  readonly newestOffset: number;
  /** The series under its old settings, whose values the new one begins with; null where they cannot be read. */
  readonly retired: SeriesUnit | null;
}

/** A state whose bytes are kept. */
export function staleBytes(
  bytes: Buffer,
  { key, reason, newestOffset, orphan }: Pick<StaleUnit, 'key' | 'reason' | 'newestOffset' | 'orphan'>,
): StaleUnit {
  return {
    key,
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

/** A series that was made under other settings. */
export function retiredSeries(unit: SeriesUnit, orphan: OrphanEvents | null): StaleUnit {
  return {
    key: unit.key,
    reason: 'settings-changed',
    newestOffset: unit.newestOffset,
    orphan,
    retired: unit,
    windowKeys: closedWindowKeys(unit),
    journalRecord: unit.journalRecord,
    openStateBytes: unit.openStateBytes,
    writeOpenState: (writer: StateWriter) => unit.writeOpenState(writer),
  };
}
