import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WindowRecords } from '../../../src/checkpoint/window-records.ts';

const drained = (windows: WindowRecords) => {
  const all: string[] = [];
  windows.drain((key, value) => all.push(`${key}=${value}`));
  return all;
};

test('the newest record of each window is kept, as a copy; deleted ones are not', () => {
  const windows = new WindowRecords();
  const view = Buffer.from('new');
  windows.keep(Buffer.from('w/0/a'), Buffer.from('old'));
  windows.keep(Buffer.from('w/0/a'), view);
  windows.keep(Buffer.from('w/1/a'), Buffer.from('gone'));
  windows.keep(Buffer.from('w/1/a'), null);
  view.fill('x');
  assert.deepEqual(drained(windows), ['w/0/a=new']);
  assert.deepEqual(drained(windows), []);
});

test('the partitions that a process restores share its bytes, and give them back', () => {
  const fill = (windows: WindowRecords, count: number) => {
    for (let i = 0; i < count; i++) windows.keep(Buffer.from(`w/${i}/a`), Buffer.alloc(10 * 1024 * 1024));
    return windows;
  };
  const first = fill(new WindowRecords(), 20);
  const second = fill(new WindowRecords(), 7);
  assert.deepEqual([first.overflowed, second.overflowed], [false, true]);
  first.release();
  const third = fill(new WindowRecords(), 20);
  assert.equal(third.overflowed, false);
  third.release();
});

test('beyond its bytes it keeps nothing, and reports that', () => {
  const windows = new WindowRecords(1_000);
  for (let i = 0; i < 4; i++) windows.keep(Buffer.from(`w/${i}/a`), Buffer.alloc(10));
  assert.equal(windows.overflowed, true);
  assert.deepEqual(drained(windows), []);
});
