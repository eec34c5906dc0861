import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DELTA_LOG_RECORD_BYTES, DeltaLog, type DeltaLogEntry } from '../../../src/checkpoint/delta-log.ts';
import { newestOpenStates } from '../../../src/checkpoint/open-states.ts';
import { SERIES_ENTRY } from '../../../src/checkpoint/state-bytes.ts';

function entryOf(key: string): DeltaLogEntry {
  return {
    key,
    deltaLogRecord: null,
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
  const writes = new DeltaLog().write([entryOf(back)], keys);
  const longest = Math.max(...writes.map(({ value }) => value!.length));
  assert.ok(longest < 2 * DELTA_LOG_RECORD_BYTES, `a record of ${longest} bytes`);
  const openStates = newestOpenStates(new Map(writes.map(({ value }, slot) => [slot, value!])));
  assert.deepEqual([...openStates.keys()], [back]);
});

test('a write that fails leaves nothing in the records of another delta log', () => {
  const failing: DeltaLogEntry = {
    ...entryOf('failing'),
    writeOpenState(writer) {
      writer.text('failing');
      throw new Error('no state');
    },
  };
  assert.throws(() => new DeltaLog().write([failing]), /no state/);
  const next = new DeltaLog().write([entryOf('next')]);
  assert.deepEqual(next, new DeltaLog().write([entryOf('next')]));
  assert.deepEqual([...newestOpenStates(new Map([[0, next[0].value!]])).keys()], ['next']);
});
