import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CsvItem } from '../../../../src/tools/csv/csv-item.ts';
import { inTimeOrder, type LiveReading } from '../../../../src/tools/csv/in-time-order.ts';

async function* rows(times: Iterable<readonly [series: string, timestampMs: number]>): AsyncGenerator<CsvItem> {
  let line = 1;
  for (const [series, timestampMs] of times) yield { kind: 'observation', line: ++line, series, timestampMs, value: 1 };
}

async function read(
  times: Iterable<readonly [string, number]>,
  live: LiveReading | null = null,
  rowsMax = 100,
): Promise<CsvItem[]> {
  const items: CsvItem[] = [];
  for await (const item of inTimeOrder(rows(times), { live, rowsMax })) items.push(item);
  return items;
}

const linesOf = (items: readonly CsvItem[]) => items.flatMap((item) => (item.kind === 'observation' ? item.line : []));

test('a file that is newest first is sorted, and the first line out of order is reported', async () => {
  const items = await read([
    ['a', 30],
    ['b', 30],
    ['a', 20],
    ['b', 20],
    ['a', 10],
  ]);
  assert.deepEqual(items[0], {
    kind: 'remark',
    text: 'The rows are sorted by time: line 4 is the first that is older than one before it',
  });
  assert.deepEqual(linesOf(items), [6, 4, 5, 2, 3]);
});

test('a file in the order of each series stays as it is', async () => {
  const items = await read([
    ['a', 10],
    ['a', 20],
    ['b', 10],
    ['b', 10],
    ['a', 20],
  ]);
  assert.deepEqual(linesOf(items), [2, 3, 4, 5, 6]);
  assert.equal(items.length, 5);
});

test('rows that are passed on as they arrive are refused where they are older than their series allows', async () => {
  const times = [['a', 1_000] as const, ['a', 400] as const, ['b', 400] as const, ['a', 900] as const];
  const [, refused] = await read(times, { olderMsMax: 100 });
  assert.equal(refused.kind, 'refused');
  assert.ok(refused.kind === 'refused' && refused.line === 3);
  assert.match(refused.reason, /its time 1970-01-01T00:00:00.400Z is before .*01.000Z.*series "a": sort rows by time/);
  assert.deepEqual(linesOf(await read(times, { olderMsMax: 100 })), [2, 4, 5]);
});

test('of a longer file than is sorted nothing is passed on if it is out of order; what is in order is', async () => {
  const readThree = (times: readonly number[]) => {
    return read(
      times.map((time) => ['a', time]),
      null,
      3,
    );
  };
  const [refused, ...others] = await readThree([40, 30, 20, 10]);
  assert.equal(others.length, 0);
  assert.ok(refused.kind === 'no-observations');
  assert.match(refused.problems[0], /^Line 3 is older than a row before it, and only 3 rows are sorted: sort the file/);
  const [first, second, third, late, fifth] = await readThree([10, 20, 30, 5, 40]);
  assert.deepEqual(linesOf([first, second, third, fifth]), [2, 3, 4, 6]);
  assert.ok(late.kind === 'refused' && late.line === 5);
});
