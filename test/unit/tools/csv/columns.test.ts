import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findColumns } from '../../../../src/tools/csv/columns.ts';

const found = (header: string, wanted = {}) => {
  const result = findColumns(header.split(','), wanted);
  return result.kind === 'columns' ? result.columns : result.problems;
};

const bare = { start: null, temporality: null, label: null };

test('columns are found by their usual names, in any case and order', () => {
  assert.deepEqual(found('timestamp,value'), { count: 2, series: null, time: 0, value: 1, ...bare });
  assert.deepEqual(found('unique_id,ds,y'), { count: 3, series: 0, time: 1, value: 2, ...bare });
  assert.deepEqual(found('ds,y,Temporality,START'), {
    count: 4,
    series: null,
    time: 0,
    value: 1,
    start: 3,
    temporality: 2,
    label: null,
  });
  assert.deepEqual(found('Y,Time,id,Series'), { count: 4, series: 3, time: 1, value: 0, ...bare });
});

test('of several usual names the first of the list counts, at any place of the header', () => {
  assert.deepEqual(found('date,timestamp,y,value'), { count: 4, series: null, time: 1, value: 3, ...bare });
});

test('a named column wins over usual names, and its case counts', () => {
  const wanted = { series: 'host', time: 'at', value: 'cpu' };
  assert.deepEqual(found('at,timestamp,value,cpu,host', wanted), { count: 5, series: 4, time: 0, value: 3, ...bare });
  assert.deepEqual(found('at,cpu,Host', wanted), [
    'there is no series column: "host" (--series-column) is not among at, cpu, Host',
  ]);
});

test('all missing columns are reported at once', () => {
  assert.deepEqual(found('a,b'), [
    'there is no time column: timestamp, ds, time, date (--time-column) is not among a, b',
    'there is no value column: value, y (--value-column) is not among a, b',
  ]);
});
