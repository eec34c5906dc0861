import { ServiceError } from '../../service-error.ts';
import { KEY_SEPARATOR, type Track } from '../changelog/changelog-series.ts';
import { Journal, type JournalEntry, type JournalRecord, type StaleHead } from '../changelog/journal.ts';
import { readClosedWindow } from '../changelog/series-state.ts';
import { GONE_ENTRY, GROUP_ENTRY, STATE_FORMAT, StateReader, type StateWriter } from '../changelog/state-bytes.ts';
import type { PartitionSession } from '../log/log.ts';
import type { WatchedDetector } from './bound-detector.ts';
import type { PartitionState } from './partition-state.ts';

export interface Restored {
  readonly journal: Journal;
  /** Partition count of the input topic when this changelog was begun; null when it is empty. */
  readonly partitionCount: number | null;
}

export const PARTITION_COUNT_KEY = Buffer.from('partitions');

const JOURNAL_PREFIX = 'j'.charCodeAt(0);
const WINDOW_PREFIX = 'w'.charCodeAt(0);

/** Entry of a journal record: [u32 length][type, key, digest, ...]. */
export interface Head {
  readonly key: string;
  readonly kind: number;
  readonly bytes: Buffer;
  /** Log order of the record it lies in. */
  readonly slot: number;
}

/**
 * Fills `state` from the changelog: first all open states, then, in a second reading, the closed windows that belong to them.
 * So nothing but the journal is ever held twice.
 */
export async function restorePartition(
  session: PartitionSession,
  state: PartitionState,
  detectorOf: (series: string) => WatchedDetector | null,
  detectorNamed: ReadonlyMap<string, WatchedDetector>,
): Promise<Restored> {
  let partitionCount: number | null = null;
  const records: NewestRecords = new Map();
  let windows = 0;
  await session.readChangelog((key, value) => {
    if (key[0] === WINDOW_PREFIX) windows++;
    else if (key[0] === JOURNAL_PREFIX) keepNewest(records, Number(key.toString('latin1', 2)), value);
    else if (key.equals(PARTITION_COUNT_KEY) && value !== null) partitionCount = Number(value.toString());
  });
  const heads = newestHeads(records);
  for (const head of heads.values()) restoreHead(head, state, detectorOf, detectorNamed);
  if (windows > 0) await restoreWindows(session, state);
  for (const unit of state.units.values()) for (const track of unit.tracks()) track.detector.recalibrate();
  return { journal: restoreJournal(records, heads, state), partitionCount };
}

/** Journal records by slot; a Map keeps the order of insertion, here that of each slot's newest record in the log. */
export type NewestRecords = Map<number, Buffer>;

function keepNewest(records: NewestRecords, slot: number, value: Buffer | null): void {
  records.delete(slot);
  // A copy: the value is a view of everything that came with it.
  if (value !== null) records.set(slot, Buffer.from(value));
}

/** The newest head of each series and group. */
export function newestHeads(records: ReadonlyMap<number, Buffer>): Map<string, Head> {
  const heads = new Map<string, Head>();
  for (const [slot, bytes] of records) {
    const reader = new StateReader(bytes);
    assertFormat(reader.u8());
    while (!reader.done) {
      const length = reader.u32();
      const start = reader.position;
      const kind = reader.u8();
      const key = reader.text();
      if (kind === GONE_ENTRY) heads.delete(key);
      else heads.set(key, { key, kind, bytes: bytes.subarray(start, start + length), slot });
      reader.position = start + length;
    }
  }
  return heads;
}

function restoreHead(
  head: Head,
  state: PartitionState,
  detectorOf: (series: string) => WatchedDetector | null,
  detectorNamed: ReadonlyMap<string, WatchedDetector>,
): void {
  const reader = new StateReader(head.bytes, 1);
  reader.text();
  const digest = reader.text();
  const [detectorName, group] = head.kind === GROUP_ENTRY ? head.key.split(KEY_SEPARATOR) : [null, null];
  const watched = detectorName === null ? detectorOf(head.key) : (detectorNamed.get(detectorName!) ?? null);
  if (watched === null || watched.digest !== digest || isGrouped(watched) !== (head.kind === GROUP_ENTRY)) {
    state.stale.set(head.key, staleHead(head));
    return;
  }
  const unit = state.createUnit(head.key, group ?? null, watched);
  unit.readHead(reader);
  unit.headBytes = head.bytes.length;
}

function isGrouped({ config }: WatchedDetector): boolean {
  return config.settings.thresholdMethod === 'multivariate';
}

function staleHead({ key, bytes }: Head): StaleHead {
  return {
    key,
    windowKeys: [],
    journalRecord: null as JournalRecord | null,
    headBytes: bytes.length,
    writeHead: (writer: StateWriter) => writer.bytes(bytes),
  };
}

async function restoreWindows(session: PartitionSession, state: PartitionState): Promise<void> {
  const tracks = new Map<string, Track>();
  for (const unit of state.units.values()) for (const track of unit.tracks()) tracks.set(track.key, track);
  await session.readChangelog((key, value) => {
    if (key[0] !== WINDOW_PREFIX || value === null) return;
    const trackKey = key.toString('utf8', key.indexOf('/', 2) + 1);
    const track = tracks.get(trackKey);
    if (track === undefined) {
      const unitKey = trackKey.split(KEY_SEPARATOR, 2).join(KEY_SEPARATOR);
      state.stale.get(unitKey)?.windowKeys.push(Buffer.from(key));
      return;
    }
    const reader = new StateReader(value);
    assertFormat(reader.u8());
    readClosedWindow(reader, track);
  });
}

function restoreJournal(
  records: ReadonlyMap<number, Buffer>,
  heads: ReadonlyMap<string, Head>,
  state: PartitionState,
): Journal {
  const entries = new Map<number, JournalEntry[]>();
  for (const { key, slot } of heads.values()) {
    const entry = state.units.get(key) ?? state.stale.get(key)!;
    const own = entries.get(slot);
    if (own === undefined) entries.set(slot, [entry]);
    else own.push(entry);
  }
  const journal = new Journal();
  for (const [slot, bytes] of records) journal.adopt(slot, bytes.length, entries.get(slot) ?? []);
  return journal;
}

function assertFormat(format: number): void {
  if (format === STATE_FORMAT) return;
  const text = `the changelog holds state in format ${format}, this version reads format ${STATE_FORMAT}`;
  throw new ServiceError('configuration', `${text}: run the version that wrote it, or reset the changelog topic`);
}
