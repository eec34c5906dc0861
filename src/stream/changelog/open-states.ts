import { assertStateFormat, formatOfEntry, StateReader, TOMBSTONE_ENTRY } from './state-bytes.ts';

/** Journal records by slot. A Map keeps the order of insertion, here the log order of each slot's newest record. */
export type JournalRecords = Map<number, Buffer>;

/** An entry of a journal record: [u32 length][kind, key, digest, ...]. */
export interface OpenState {
  readonly key: string;
  readonly kind: number;
  readonly bytes: Buffer;
  /** The slot of the record that holds it. */
  readonly slot: number;
}

/** Adds a record of the journal as it is read from the log; null deletes its slot. */
export function keepNewestRecord(records: JournalRecords, slot: number, value: Buffer | null): void {
  records.delete(slot);
  // A copy: the value is a view of the whole fetch response.
  if (value !== null) records.set(slot, Buffer.from(value));
}

/** The newest open state of each series and group, by key. */
export function newestOpenStates(records: ReadonlyMap<number, Buffer>): Map<string, OpenState> {
  const openStates = new Map<string, OpenState>();
  for (const [slot, bytes] of records) {
    const reader = new StateReader(bytes);
    assertStateFormat(reader.u8());
    while (!reader.done) {
      const length = reader.u32();
      const start = reader.position;
      const kind = reader.u8();
      const key = reader.text();
      if (kind === TOMBSTONE_ENTRY) openStates.delete(key);
      else openStates.set(key, { key, kind, bytes: bytes.subarray(start, start + length), slot });
      reader.position = start + length;
    }
  }
  return openStates;
}

/** Stands before the digest of an open state. */
export function openStateReader({ bytes, kind }: Pick<OpenState, 'bytes' | 'kind'>): StateReader {
  const reader = new StateReader(bytes, 1, formatOfEntry(kind));
  reader.text();
  return reader;
}
