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
import type { DetectorConfig } from '../../../src/config/config.ts';
import { NEVER_SEEN, outdatedBytes } from '../../../src/engine/arrival/outdated-state.ts';
import type { AnomalyEvent } from '../../../src/records/anomaly-event.ts';
import type { ScoreRecord } from '../../../src/records/score-record.ts';
import { fc } from '../../fixture/fast-check.ts';
import {
  detectorConfig,
  groupDetector,
  observationRecord,
  streamRun,
  streamSettings,
  TOPICS,
} from '../../fixture/stream/stream-run.ts';
import type { MemoryBroker } from '../../fixture/stream-log/memory-log.ts';

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

const DETECTORS: Readonly<Record<string, DetectorConfig>> = {
  plain: detectorConfig(),
  'overlapping forecasts': detectorConfig({
    settings: streamSettings({ h: 6, stepSize: 3, detectionSize: 6, calibrationSize: 42 }),
  }),
  'short horizons': detectorConfig({
    settings: streamSettings({ h: 4, stepSize: 4, detectionSize: 16, calibrationSize: 'all' }),
  }),
  'reordered records': detectorConfig({ settings: streamSettings({ latenessMs: 180_000, detectionSize: 8 }) }),
  groups: groupDetector({ calibrationSize: 28, gapLimit: 4, grace: 2 }),
};
const SERIES = ['a', 'b', 'c'];

/** Gaps, members that leave and return, and values that alarm. */
const rows = fc.array(
  fc.tuple(...SERIES.map(() => fc.option(fc.integer({ min: -9, max: 9 }), { freq: 7, nil: null }))),
  { minLength: 70, maxLength: 100 },
);

type Rows = readonly (readonly (number | null)[])[];

function changedRecords(chosen: Rows) {
  return chosen.flatMap((row, step) =>
    SERIES.flatMap((series, i) => {
      const value = row[i] === 9 ? 80 : row[i];
      const away = i === 2 && step >= 40 && step < 52;
      return value === null || away ? [] : [observationRecord(series, step, value, 'g')];
    }),
  );
}

/** Entries of the delta log that are changes, and all of them. */
function entriesOf(broker: MemoryBroker): { changes: number; all: number } {
  let [changes, all] = [0, 0];
  for (const { key, value } of broker.read(TOPICS.changelog, 0)) {
    if (!key?.toString().startsWith('j/') || value === null) continue;
    for (const reader = new StateReader(value, 1); !reader.done; all++) {
      const end = reader.u32() + reader.position;
      if (reader.u8() === CHANGE_ENTRY) changes++;
      reader.position = end;
    }
  }
  return { changes, all };
}

/** Records of one commit may be in another order than those of two. */
function sorted(records: readonly (ScoreRecord | AnomalyEvent)[]): string[] {
  return records.map((record) => JSON.stringify(record)).sort();
}

for (const [name, detector] of Object.entries(DETECTORS)) {
  test(`whichever changes a restore finds, the scores after it are those without one: ${name}`, async () => {
    let [changes, all] = [0, 0];
    await fc.assert(
      fc.asyncProperty(rows, fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 8 }), async (chosen, chunks) => {
        const records = changedRecords(chosen);
        const whole = streamRun({ detectors: [detector] });
        for (const { key, value } of records) whole.broker.append(0, key, value);
        await whole.scoreAll();

        const run = streamRun({ detectors: [detector], limits: { commitRecordsMax: 7 } });
        for (let at = 0, i = 0; at < records.length; i++) {
          const end = at + chunks[i % chunks.length];
          for (const { key, value } of records.slice(at, end)) run.broker.append(0, key, value);
          await run.scoreAll();
          at = end;
        }
        assert.deepEqual(sorted(run.scores()), sorted(whole.scores()));
        assert.deepEqual(sorted(run.events()), sorted(whole.events()));
        const entries = entriesOf(run.broker);
        changes += entries.changes;
        all += entries.all;
      }),
      { numRuns: 8, endOnFailure: true },
    );
    assert.ok(changes > all / 4, `${changes} of ${all} entries are changes`);
  });
}
