import { cutEvents } from './event-state.ts';
import { assertStateFormat, formatOfEntry, isChangeEntry, StateReader, TOMBSTONE_ENTRY } from './state-bytes.ts';

/** DeltaLog records by slot. A Map keeps the order of insertion, here the log order of each slot's newest record. */
export type DeltaLogRecords = Map<number, Buffer>;

/**
 * A whole entry of a delta log record, [u32 length][kind, key, digest, ...], and the changes since then in log order,
 * [u32 length][kind, key, ...].
 */
export interface OpenState {
  readonly key: string;
  readonly kind: number;
  readonly bytes: Buffer;
  readonly changes: readonly Buffer[];
  /** The slot of the record that holds the whole entry. */
  readonly slot: number;
}

/** Larger records have memory of their own, with a share more than they need. */
const OWN_BYTES_MIN = 16 * 1024;
const ROOM_SHARE = 1 / 8;

/** Adds a record of the delta log as it is read from the log; null deletes its slot. */
export function keepNewestRecord(records: DeltaLogRecords, slot: number, value: Buffer | null): void {
  const earlier = records.get(slot);
  records.delete(slot);
  // A copy: the value is a view of the whole fetch response.
  if (value !== null) records.set(slot, copied(value, earlier));
  else if (earlier !== undefined) discardOwn(earlier);
}

/** Most records replace another one that is as large: its memory is used again, instead of new pages of the system. */
function copied(value: Buffer, earlier: Buffer | undefined): Buffer {
  if (value.length < OWN_BYTES_MIN) return Buffer.from(value);
  let room = earlier;
  if (room === undefined || room.length < OWN_BYTES_MIN || room.buffer.byteLength < value.length) {
    if (room !== undefined) discardOwn(room);
    room = Buffer.allocUnsafeSlow(Math.ceil(value.length * (1 + ROOM_SHARE)));
  }
  const bytes = Buffer.from(room.buffer, 0, value.length);
  bytes.set(value);
  return bytes;
}

/** Returns memory to the system now: the collector may find it much later. No view of it is used any more. */
export function discard({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}

function discardOwn(bytes: Buffer): void {
  if (bytes.length >= OWN_BYTES_MIN) discard(bytes);
}

/** The last call. No view of them is used any more. */
export function forgetRecords(records: DeltaLogRecords): void {
  for (const bytes of records.values()) discardOwn(bytes);
  records.clear();
}

/** The newest open state of each series and group, by key. */
export function newestOpenStates(records: ReadonlyMap<number, Buffer>): Map<string, OpenState> {
  const openStates = new Map<string, OpenState & { readonly changes: Buffer[] }>();
  for (const [slot, bytes] of records) {
    const reader = new StateReader(bytes);
    assertStateFormat(reader.u8());
    while (!reader.done) {
      const length = reader.u32();
      const start = reader.position;
      const kind = reader.u8();
      const key = reader.text();
      if (kind === TOMBSTONE_ENTRY) openStates.delete(key);
      // A change of a state that was reclaimed or evicted since: a later record has it whole, or its tombstone.
      else if (isChangeEntry(kind)) openStates.get(key)?.changes.push(bytes.subarray(start, start + length));
      else openStates.set(key, { key, kind, bytes: bytes.subarray(start, start + length), changes: [], slot });
      reader.position = start + length;
    }
  }
  return openStates;
}

/** Precedes the digest of an open state. */
export function openStateReader({ bytes, kind }: Pick<OpenState, 'bytes' | 'kind'>): StateReader {
  const reader = new StateReader(bytes, 1, formatOfEntry(kind));
  reader.skipText();
  return reader;
}

/** Precedes the events of a change. */
export function changeReader(change: Buffer): StateReader {
  return openStateReader({ bytes: change, kind: change[0] });
}

/** Precedes the newest events of an open state. */
export function newestReader({ bytes, changes, kind }: OpenState): StateReader {
  const newest = changes.at(-1);
  if (newest !== undefined) return changeReader(newest);
  const reader = openStateReader({ bytes, kind });
  reader.skipText();
  return reader;
}

export function withoutEvents(openState: OpenState): OpenState {
  const { bytes, changes } = openState;
  const reader = openStateReader(openState);
  reader.skipText();
  return {
    ...openState,
    bytes: cutEvents(bytes, reader),
    changes: changes.map((change) => cutEvents(change, changeReader(change))),
  };
}

/** Bytes in the delta log. */
export function openStateSize({ bytes, changes }: Pick<OpenState, 'bytes' | 'changes'>) {
  return { openStateBytes: bytes.length, changeBytes: changes.reduce((sum, change) => sum + change.length, 0) };
}
