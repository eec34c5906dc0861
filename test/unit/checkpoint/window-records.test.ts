import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WindowRecords } from '../../../src/checkpoint/window-records.ts';

/** Values of a series by their slots. Values begin with the format of the state. */
const taken = (windows: WindowRecords, series: string) => {
  const all: string[] = [];
  windows.take(series, (reader, end) => {
    const length = end - reader.position;
    all.push(Buffer.from(Array.from({ length }, () => reader.u8())).toString());
  });
  return all;
};
const windowValue = (text: string) => Buffer.from(`\x08${text}`);

test('the newest window of each key is kept, as a copy', () => {
  const windows = new WindowRecords();
  const view = windowValue('new');
  windows.keep(Buffer.from('w/0/a/b'), windowValue('old'));
  windows.keep(Buffer.from('w/12/é'), windowValue('other'));
  windows.keep(Buffer.from('w/0/a/b'), view);
  windows.keep(Buffer.from('w/3/a/b'), windowValue('short'));
  windows.keep(Buffer.from('w/3/a/b'), windowValue('longer than before'));
  windows.keep(Buffer.from('w/1/a/b'), windowValue('gone'));
  windows.keep(Buffer.from('w/1/a/b'), null);
  view.fill('x');
  assert.deepEqual(taken(windows, 'a/b'), ['new', 'longer than before']);
  assert.deepEqual(taken(windows, 'a/b'), []);
  assert.deepEqual(taken(windows, 'b'), []);
  assert.deepEqual([...windows.left()], [['é', [12]]]);
});

test('windows of any size are kept', () => {
  const windows = new WindowRecords();
  const sizes = [700_000, 700_000, 3_000_000, 0, 10];
  for (const [i, size] of sizes.entries()) windows.keep(Buffer.from(`w/${i}/a`), windowValue(String(i).repeat(size)));
  const read = taken(windows, 'a').map((text, i) => [text.length, text === String(i).repeat(text.length)]);
  const expected = sizes.map((size) => [size, true]);
  assert.deepEqual(read, expected);
});

test('windows of many series are found by their ids', () => {
  const windows = new WindowRecords();
  const ids = Array.from({ length: 5_000 }, (_, i) => `${'prefix-'.repeat(i % 3)}${i}${'-suffix'.repeat(i % 2)}`);
  for (const slot of [0, 1])
    for (const id of ids) windows.keep(Buffer.from(`w/${slot}/${id}`), windowValue(`${slot} ${id}`));
  for (const id of ids) assert.deepEqual(taken(windows, id), [`0 ${id}`, `1 ${id}`]);
  assert.deepEqual([...windows.left()], []);
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
  assert.deepEqual([...windows.left()], []);
});
