import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Decoded } from '../../../../src/codecs/observations/decoded.ts';
import { compileMapping } from '../../../../src/codecs/observations/mapping.ts';
import { compileValues, RECORD_VALUES_MAX } from '../../../../src/codecs/observations/values-mapping.ts';
import type { RecordMapping } from '../../../../src/config/config.ts';
import { CLOCK_MS, recordMapping } from '../../../fixture/stream/record-mapping.ts';

const whyNot = (decoded: Exclude<Decoded, { kind: 'observation' }>) =>
  decoded.kind === 'missing' ? ['missing'] : [decoded.reason, decoded.detail];

function read(record: unknown, changes: Partial<RecordMapping>, groupSourceOf: (() => string) | null = null) {
  const decoded = compileValues(recordMapping(changes), { groupSourceOf })(record, CLOCK_MS);
  return decoded.map((each) => (each.kind === 'observation' ? [each.series, each.value, each.group] : whyNot(each)));
}

test('each value of an object is a series; texts, lists and what is null are passed over', () => {
  const fields = {
    user: 1.5,
    idle: '98.5',
    up: true,
    note: 'fine',
    none: null,
    empty: '',
    list: [1],
    nested: { a: 1 },
  };
  const record = { series: 'web-1', timestamp: CLOCK_MS, fields };
  assert.deepEqual(read(record, { values: ['fields'] }), [
    ['web-1/user', 1.5, null],
    ['web-1/idle', 98.5, null],
    ['web-1/up', 1, null],
  ]);
});

test('a value by its path has the name of its last part, and must be a number', () => {
  const record = { series: 'web-1', timestamp: CLOCK_MS, cpu: { user: 1 }, mem: 'much', g: 'rack' };
  const actual = read(record, { values: ['cpu.user', 'mem', 'absent'] }, () => 'g');
  assert.deepEqual(actual, [
    ['web-1/user', 1, 'rack'],
    ['value-not-a-number', 'the value is "much", not a decimal number'],
  ]);
  assert.deepEqual(read(record, { values: ['absent', 'cpu.absent'] }), [
    ['value-missing', 'the record has nothing at any path of values'],
  ]);
});

test('labels name the series as Telegraf writes them in JSON', () => {
  const record = { name: 'cpu', tags: { host: 'a', cpu: 7 }, fields: { user: 1 }, timestamp: CLOCK_MS };
  assert.deepEqual(read(record, { series: ['name'], labels: 'tags', values: ['fields'] }), [
    ['cpu_user{cpu="7",host="a"}', 1, null],
  ]);
});

test('labels name a record of one value as well', () => {
  const decode = (tags: unknown) =>
    compileMapping(recordMapping({ labels: 'tags' }))({ series: 'up', tags, timestamp: CLOCK_MS, value: 1 }, CLOCK_MS);
  const seriesOf = (tags: unknown) => {
    const decoded = decode(tags);
    return decoded.kind === 'observation' ? decoded.series : whyNot(decoded).join();
  };
  assert.equal(seriesOf({ job: 'a', flag: true, none: null, empty: '' }), 'up{flag="true",job="a"}');
  assert.equal(seriesOf(undefined), 'up');
  assert.match(seriesOf('job=a'), /not an object/);
  assert.match(seriesOf({ job: { a: 1 } }), /label "job"/);
  assert.match(seriesOf({ __name__: 'down' }), /__name__ is "down", not "up"/);
  // A Protobuf message has its type there.
  for (const type of [{ fieldsArray: 5 }, { fieldsArray: [] }, { decode: 1, fieldsArray: null }])
    assert.match(seriesOf({ $type: type, pod: 'a' }), /label "\$type"/);
  // As prometheus-kafka-adapter writes it.
  assert.equal(seriesOf({ __name__: 'up', label1: 'value1' }), 'up{label1="value1"}');
  assert.match(seriesOf(Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`l${i}`, i]))), /65 labels/);
  assert.match(seriesOf({ job: 'x'.repeat(1_100) }), /has 1110 bytes, more than 1024: leave labels out/);
});

test('a record with more values than one may have is unreadable', () => {
  const fields = Object.fromEntries(Array.from({ length: RECORD_VALUES_MAX + 1 }, (_, i) => [`f${i}`, i]));
  const record = { series: 'a', timestamp: CLOCK_MS, fields };
  const actual = read(record, { values: ['fields'] }).map(([reason]) => reason);
  assert.deepEqual(actual, ['record-unreadable']);
});
