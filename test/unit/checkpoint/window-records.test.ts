import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WindowRecords } from '../../../src/checkpoint/window-records.ts';

const drained = (windows: WindowRecords) => {
  const all: string[] = [];
  for (const _ of windows.drain((series) => (slot, value) => all.push(`${series}/${slot}=${value}`)));
  return all;
};

test('windows are kept in the order of the log, as copies', () => {
  const windows = new WindowRecords();
  const view = Buffer.from('new');
  windows.keep(Buffer.from('w/0/a/b'), Buffer.from('old'));
  windows.keep(Buffer.from('w/12/é'), Buffer.from('other'));
  windows.keep(Buffer.from('w/0/a/b'), view);
  windows.keep(Buffer.from('w/1/a/b'), null);
  view.fill('x');
  assert.equal(windows.any, true);
  assert.deepEqual(drained(windows), ['a/b/0=old', 'é/12=other', 'a/b/0=new']);
  assert.deepEqual(drained(windows), []);
});

test('windows of any size are kept', () => {
  const windows = new WindowRecords();
  const sizes = [700_000, 700_000, 3_000_000, 0, 10];
  for (const [i, size] of sizes.entries()) windows.keep(Buffer.from(`w/${i}/a`), Buffer.alloc(size, i + 1));
  const read: [number, number, boolean][] = [];
  const sink = (slot: number, value: Buffer) =>
    read.push([slot, value.length, value.every((byte) => byte === slot + 1)]);
  for (const _ of windows.drain(() => sink));
  assert.deepEqual(
    read,
    sizes.map((size, i) => [i, size, true]),
  );
});

test('the partitions that a process restores share its bytes, and give them back', () => {
  const budget = { bytes: 0, bytesMax: 100_000 };
  const fill = (count: number) => {
    const windows = new WindowRecords(budget);
    for (let i = 0; i < count; i++) windows.keep(Buffer.from(`w/${i}/a`), Buffer.alloc(4_000));
    return windows;
  };
  const [first, second] = [fill(20), fill(7)];
  assert.deepEqual([first.overflowed, second.overflowed], [false, true]);
  first.release();
  const third = fill(20);
  assert.equal(third.overflowed, false);
  third.release();
  assert.equal(budget.bytes, 0);
});

test('beyond its bytes it keeps nothing, and reports that', () => {
  const windows = new WindowRecords({ bytes: 0, bytesMax: 1_000 });
  for (let i = 0; i < 60; i++) windows.keep(Buffer.from(`w/${i}/a`), Buffer.alloc(10));
  assert.equal(windows.overflowed, true);
  assert.deepEqual(drained(windows), []);
});
