import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NAMES_BYTES_MAX, namedSeries, SeriesNames } from '../../../../src/codecs/points/series-names.ts';

test('a series is read once by the bytes that name it, within its scope', () => {
  const names = new SeriesNames();
  let read = 0;
  const find = (scope: string, key: string) =>
    names.find(names.scope(scope), key, () => namedSeries(`${scope}_${key}_${++read}`, [])).id;
  assert.deepEqual(
    [find('cpu', 'a'), find('cpu', 'a'), find('cpu', 'b'), find('mem', 'a'), find('cpu', 'b')],
    ['cpu_a_1', 'cpu_a_1', 'cpu_b_2', 'mem_a_3', 'cpu_b_2'],
  );
});

test('beyond their bytes names are forgotten and read again', () => {
  const names = new SeriesNames();
  let read = 0;
  const find = (key: string) => names.find(names.scope(''), key, () => namedSeries(`n${++read}`, []));
  find('first');
  for (let i = 0; i < NAMES_BYTES_MAX / 4_000; i++) find(`${i}${'x'.repeat(1_000)}`);
  const before = read;
  find('first');
  assert.equal(read, before + 1);
  find('first');
  assert.equal(read, before + 1);
});

test('a key that no Unicode text has is not taken for another one', () => {
  const names = new SeriesNames();
  const scope = names.scope('');
  names.find(scope, '\uD800', () => namedSeries('broken', []));
  assert.equal(names.find(scope, '\uFFFD', () => namedSeries('other', [])).id, 'other');
  assert.equal(names.find(scope, '\uD800', () => namedSeries('again', [])).id, 'broken');
});
