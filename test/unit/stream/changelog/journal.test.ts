import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JOURNAL_RECORD_BYTES, Journal, type JournalEntry } from '../../../../src/stream/changelog/journal.ts';
import { SERIES_ENTRY } from '../../../../src/stream/changelog/state-bytes.ts';
import { newestHeads } from '../../../../src/stream/engine/restore-partition.ts';

function entryOf(key: string): JournalEntry {
  return {
    key,
    journalRecord: null,
    headBytes: 0,
    writeHead(writer) {
      writer.u8(SERIES_ENTRY);
      writer.text(key);
    },
  };
}

test('however many series are forgotten at once, their marks lie in records that a broker takes, before newer heads', () => {
  const keys = Array.from({ length: 6_250 }, (_, i) => `${i}${'x'.repeat(500)}`);
  const back = keys[0];
  const writes = new Journal().write([entryOf(back)], keys);
  const longest = Math.max(...writes.map(({ value }) => value!.length));
  assert.ok(longest < 2 * JOURNAL_RECORD_BYTES, `a record of ${longest} bytes`);
  const heads = newestHeads(new Map(writes.map(({ value }, slot) => [slot, value!])));
  assert.deepEqual([...heads.keys()], [back]);
});
