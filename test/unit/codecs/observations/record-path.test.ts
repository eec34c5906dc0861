import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileRecordPath, parseRecordPath } from '../../../../src/codecs/observations/record-path.ts';

test('a path is keys joined by dots and indexes in brackets', () => {
  assert.deepEqual(parseRecordPath('value'), ['value']);
  assert.deepEqual(parseRecordPath('tags.host'), ['tags', 'host']);
  assert.deepEqual(parseRecordPath('$.points[0].value'), ['points', 0, 'value']);
  assert.deepEqual(parseRecordPath('$[2]'), [2]);
  assert.deepEqual(parseRecordPath('["a.b"].c'), ['a.b', 'c']);
  assert.deepEqual(parseRecordPath("tags['it\\'s']"), ['tags', "it's"]);
});

test('a text that is not a path is refused', () => {
  for (const text of ['', '.a', 'a.', 'a..b', 'a[', 'a[x]', 'a[-1]', ' a', 'a]']) {
    assert.equal(parseRecordPath(text), null, text);
    assert.throws(() => compileRecordPath(text), RangeError);
  }
});

test('a path that a record does not have reads as undefined', () => {
  const record = { points: [{ value: 7 }], tags: null };
  assert.equal(compileRecordPath('points[0].value')(record), 7);
  for (const path of ['points[1].value', 'points.length', 'points.value', 'tags.host', 'value.x.y', 'points[0][0]']) {
    assert.equal(compileRecordPath(path)(record), undefined, path);
  }
});

test('keys that every object inherits are read from the record alone', () => {
  for (const path of ['constructor', '__proto__', 'toString', 'tags.hasOwnProperty']) {
    assert.equal(compileRecordPath(path)({ tags: {} }), undefined, path);
  }
  assert.equal(compileRecordPath('constructor')(JSON.parse('{"constructor":"Ford"}')), 'Ford');
});
