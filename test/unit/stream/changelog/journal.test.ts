import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JOURNAL_RECORD_BYTES, Journal, type JournalEntry } from '../../../../src/stream/changelog/journal.ts';
import { newestOpenStates } from '../../../../src/stream/changelog/open-states.ts';
import { SERIES_ENTRY } from '../../../../src/stream/changelog/state-bytes.ts';

function entryOf(key: string): JournalEntry {
  return {
    key,
    journalRecord: null,
    openStateBytes: 0,
    changeBytes: 0,
    writeChange: () => false,
    writeOpenState(writer) {
      writer.u8(SERIES_ENTRY);
      writer.text(key);
    },
  };
}

test('however many series are evicted at once, their tombstones fit into records of the broker and precede newer open states', () => {
  const keys = Array.from({ length: 6_250 }, (_, i) => `${i}${'x'.repeat(500)}`);
  const back = keys[0];
  const writes = new Journal().write([entryOf(back)], keys);
  const longest = Math.max(...writes.map(({ value }) => value!.length));
  assert.ok(longest < 2 * JOURNAL_RECORD_BYTES, `a record of ${longest} bytes`);
  const openStates = newestOpenStates(new Map(writes.map(({ value }, slot) => [slot, value!])));
  assert.deepEqual([...openStates.keys()], [back]);
});
