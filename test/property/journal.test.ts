import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  JOURNAL_BYTES_MIN,
  JOURNAL_GARBAGE_RATIO,
  Journal,
  type JournalEntry,
} from '../../src/stream/changelog/journal.ts';
import { type JournalRecords, newestOpenStates } from '../../src/stream/changelog/open-states.ts';
import { SERIES_ENTRY, StateReader, type StateWriter } from '../../src/stream/changelog/state-bytes.ts';

/** A state that is nothing but a number, and some weight. */
interface Numbered extends JournalEntry {
  number: number;
}

const WEIGHT_BYTES = 20_000;
const weight = Buffer.alloc(WEIGHT_BYTES);

function numbered(key: string): Numbered {
  return {
    key,
    number: 0,
    journalRecord: null,
    openStateBytes: 0,
    writeOpenState(writer: StateWriter) {
      writer.u8(SERIES_ENTRY);
      writer.text(this.key);
      writer.f64(this.number);
      writer.bytes(weight);
    },
  };
}

/** What a commit touches and what it forgets. */
const commits = fc.array(
  fc.record({ touched: fc.uniqueArray(fc.nat(19), { maxLength: 6 }), gone: fc.option(fc.nat(19), { freq: 8 }) }),
  { minLength: 60, maxLength: 120 },
);

test('a restore finds the newest open states after any commits, in bounded space', () => {
  fc.assert(
    fc.property(commits, fc.array(fc.nat(119), { maxLength: 4 }), (steps, restarts) => {
      let journal = new Journal();
      let entries = new Map<string, Numbered>();
      const log: JournalRecords = new Map();
      let number = 0;
      steps.forEach(({ touched, gone }, step) => {
        const goneKey = gone === null ? null : `s${gone}`;
        const forgotten = goneKey === null ? undefined : entries.get(goneKey);
        if (forgotten !== undefined) {
          journal.forget(forgotten);
          entries.delete(forgotten.key);
        }
        const units = touched.map((id) => {
          const entry = entries.get(`s${id}`) ?? numbered(`s${id}`);
          entries.set(entry.key, entry);
          entry.number = ++number;
          return entry;
        });
        for (const { key, value } of journal.write(units, forgotten === undefined ? [] : [forgotten.key])) {
          const slot = Number(key.toString().slice(2));
          log.delete(slot);
          if (value !== null) log.set(slot, value);
        }
        assertOpenStates(log, entries);
        assertBounded(log, entries);
        if (restarts.includes(step)) [journal, entries] = restarted(log);
      });
    }),
    { numRuns: 30 },
  );
});

/** As a task finds it after a crash. */
function restarted(log: JournalRecords): [Journal, Map<string, Numbered>] {
  const journal = new Journal();
  const entries = new Map<string, Numbered>();
  const openStates = newestOpenStates(log);
  for (const [slot, bytes] of log) {
    const own = [...openStates.values()].filter((openState) => openState.slot === slot);
    const adopted = own.map(({ key, bytes: openState }) => {
      const entry = { ...numbered(key), number: numberOf(openState), openStateBytes: openState.length };
      entries.set(key, entry);
      return entry;
    });
    journal.adopt(slot, bytes.length, adopted);
  }
  return [journal, entries];
}

function assertOpenStates(log: JournalRecords, entries: ReadonlyMap<string, Numbered>): void {
  const found = new Map([...newestOpenStates(log)].map(([key, { bytes }]) => [key, numberOf(bytes)]));
  const expected = new Map([...entries].map(([key, entry]) => [key, entry.number]));
  assert.deepEqual(new Map([...found].sort()), new Map([...expected].sort()));
}

function assertBounded(log: JournalRecords, entries: ReadonlyMap<string, Numbered>): void {
  const bytes = [...log.values()].reduce((sum, value) => sum + value.length, 0);
  const live = entries.size * (WEIGHT_BYTES + 100);
  const oneCommit = 20 * (WEIGHT_BYTES + 100);
  assert.ok(bytes <= Math.max(JOURNAL_BYTES_MIN, JOURNAL_GARBAGE_RATIO * live) + 2 * oneCommit, `${bytes} bytes`);
}

function numberOf(openState: Buffer): number {
  const reader = new StateReader(openState, 1);
  reader.text();
  return reader.f64();
}
