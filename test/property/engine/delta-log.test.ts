import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CHANGES_RATIO,
  DELTA_LOG_BYTES_MIN,
  DELTA_LOG_GARBAGE_RATIO,
  DeltaLog,
  type DeltaLogEntry,
} from '../../../src/checkpoint/delta-log.ts';
import {
  type DeltaLogRecords,
  keepNewestRecord,
  newestOpenStates,
  type OpenState,
  openStateSize,
} from '../../../src/checkpoint/open-states.ts';
import { CHANGE_ENTRY, SERIES_ENTRY, StateReader, type StateWriter } from '../../../src/checkpoint/state-bytes.ts';
import { NEVER_SEEN, outdatedBytes } from '../../../src/engine/arrival/outdated-state.ts';
import { fc } from '../../fixture/fast-check.ts';

const WEIGHT_BYTES = 10_000;
const weight = Buffer.alloc(WEIGHT_BYTES);

/** A state that is a list of numbers, and some weight. A change adds the numbers since the last entry. */
class Numbered implements DeltaLogEntry {
  readonly key: string;
  readonly numbers: number[];
  written: number;
  deltaLogRecord = null;
  openStateBytes = 0;
  changeBytes = 0;

  constructor(key: string, numbers: number[] = []) {
    this.key = key;
    this.numbers = numbers;
    this.written = numbers.length;
  }

  writeOpenState(writer: StateWriter): void {
    writer.u8(SERIES_ENTRY);
    writer.text(this.key);
    this.#writeFrom(0, writer);
    writer.bytes(weight);
  }

  /** As when a window closes: then it must be whole. */
  writeChange(writer: StateWriter): boolean {
    if (this.numbers.length % 7 === 0) return false;
    writer.u8(CHANGE_ENTRY);
    writer.text(this.key);
    this.#writeFrom(this.written, writer);
    if (this.numbers.length % 2 === 0) writer.bytes(weight);
    return true;
  }

  #writeFrom(from: number, writer: StateWriter): void {
    writer.u32(from);
    writer.u32(this.numbers.length - from);
    for (const number of this.numbers.slice(from)) writer.number(number);
    this.written = this.numbers.length;
  }
}

function numbersOf({ bytes, changes }: OpenState): number[] {
  const numbers: number[] = [];
  for (const entry of [bytes, ...changes]) {
    const reader = new StateReader(entry, 1);
    reader.text();
    assert.equal(reader.u32(), numbers.length, 'a change is missing');
    for (let count = reader.u32(); count > 0; count--) numbers.push(reader.number());
  }
  return numbers;
}

interface LogRecord {
  readonly slot: number;
  readonly value: Buffer | null;
}

/** What a commit touches and forgets; how much of the log is compacted by then, and whether tombstones are gone. */
const commits = fc.array(
  fc.record({
    touched: fc.uniqueArray(fc.nat(19), { maxLength: 6 }),
    gone: fc.option(fc.nat(19), { freq: 8 }),
    compacted: fc.double({ min: 0, max: 1, noNaN: true }),
    tombstonesGone: fc.boolean(),
  }),
  { minLength: 60, maxLength: 150 },
);

type Entries = Map<string, Numbered | Stale>;
type Stale = DeltaLogEntry & { readonly numbers: readonly number[] };

test('a restore finds every open state with all its changes after any commits and compactions, in bounded space', () => {
  fc.assert(
    fc.property(commits, fc.array(fc.nat(149), { maxLength: 4 }), (steps, restarts) => {
      let deltaLog = new DeltaLog();
      let entries: Entries = new Map();
      const log: LogRecord[] = [];
      let number = 0;
      steps.forEach(({ touched, gone, compacted, tombstonesGone }, step) => {
        const evicted = gone === null ? [] : forget(`s${gone}`, entries, deltaLog);
        const units = touched.map((id) => {
          const known = entries.get(`s${id}`);
          // An observation of a series whose state cannot be continued.
          if (known !== undefined && !(known instanceof Numbered))
            evicted.push(...forget(known.key, entries, deltaLog));
          const entry = known instanceof Numbered ? known : new Numbered(`s${id}`);
          entries.set(entry.key, entry);
          entry.numbers.push(++number);
          return entry;
        });
        for (const { key, value } of deltaLog.write(units, evicted)) {
          log.push({ slot: Number(key.toString().slice(2)), value });
        }
        const end = Math.floor(log.length * compacted);
        const records = recordsOf([...compact(log.slice(0, end), tombstonesGone), ...log.slice(end)]);
        assertOpenStates(records, entries);
        assertBounded(records, entries);
        if (restarts.includes(step)) [deltaLog, entries] = restarted(records);
      });
    }),
    { numRuns: 60 },
  );
});

function forget(key: string, entries: Entries, deltaLog: DeltaLog): string[] {
  const entry = entries.get(key);
  if (entry === undefined) return [];
  deltaLog.forget(entry);
  entries.delete(key);
  return [key];
}

/** As the log cleaner does it: the newest record of each key stays, a tombstone for some time. */
function compact(records: readonly LogRecord[], tombstonesGone: boolean): LogRecord[] {
  const newest = new Map(records.map(({ slot }, i) => [slot, i]));
  return records.filter(({ slot, value }, i) => newest.get(slot) === i && !(tombstonesGone && value === null));
}

function recordsOf(log: readonly LogRecord[]): DeltaLogRecords {
  const records: DeltaLogRecords = new Map();
  for (const { slot, value } of log) keepNewestRecord(records, slot, value);
  return records;
}

/** As a task finds it after a crash. Every third series has other settings: its bytes are kept as they are. */
function restarted(records: DeltaLogRecords): [DeltaLog, Entries] {
  const deltaLog = new DeltaLog();
  const entries: Entries = new Map();
  const openStates = newestOpenStates(records);
  for (const [slot, bytes] of records) {
    const own = [...openStates.values()].filter((openState) => openState.slot === slot);
    const adopted = own.map((openState) => {
      const { key } = openState;
      const numbers = numbersOf(openState);
      const why = {
        key,
        reason: 'settings-changed',
        orphan: null,
        idleMs: null,
        ...NEVER_SEEN,
        newestOffset: 0,
      } as const;
      const entry =
        Number(key.slice(1)) % 3 === 0
          ? { ...outdatedBytes(openState, why), numbers }
          : Object.assign(new Numbered(key, numbers), openStateSize(openState));
      entries.set(key, entry);
      return entry;
    });
    deltaLog.adopt(slot, bytes.length, adopted);
  }
  return [deltaLog, entries];
}

function assertOpenStates(records: DeltaLogRecords, entries: Entries): void {
  const found = new Map([...newestOpenStates(records)].map(([key, openState]) => [key, numbersOf(openState)]));
  const expected = new Map([...entries].map(([key, { numbers }]) => [key, numbers]));
  assert.deepEqual(new Map([...found].sort()), new Map([...expected].sort()));
}

function assertBounded(records: DeltaLogRecords, entries: Entries): void {
  const bytes = [...records.values()].reduce((sum, value) => sum + value.length, 0);
  const whole = WEIGHT_BYTES + 3_000;
  const max = Math.max(DELTA_LOG_BYTES_MIN, DELTA_LOG_GARBAGE_RATIO * entries.size * whole);
  const oneCommit = 20 * whole * (1 + CHANGES_RATIO);
  assert.ok(bytes <= max + 2 * oneCommit, `${bytes} bytes`);
}
