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

test('a fleet whose windows close in turn keeps what one turn writes, and moves no open state', () => {
  const [series, turn, openStateBytes, changeBytes] = [480, 24, 4_096, 100];
  let [step, whole] = [0, 0];
  const entries = Array.from({ length: series }, (_, i): DeltaLogEntry => {
    const key = `s${i}`;
    return {
      ...entryOf(key),
      writeOpenState(writer) {
        whole++;
        writer.u8(SERIES_ENTRY);
        writer.text(key);
        writer.bytes(Buffer.alloc(openStateBytes));
      },
      writeChange(writer) {
        if (step % turn === i % turn) return false;
        writer.bytes(Buffer.alloc(changeBytes));
        return true;
      },
    };
  });
  const deltaLog = new DeltaLog();
  for (; step < 5 * turn; step++) deltaLog.write(entries);
  assert.ok(deltaLog.bytes < 1.2 * series * (openStateBytes + turn * changeBytes), `${deltaLog.bytes} bytes`);
  // The first step, and each time a window closes after it.
  assert.equal(whole, series + (series / turn) * (5 * turn - 1));
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
