import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SERIES_ID_BYTES_MAX } from '../../../../src/codecs/observations/id-check.ts';
import { compileMapping } from '../../../../src/codecs/observations/mapping.ts';
import type { RecordMapping } from '../../../../src/config/config.ts';
import { VALUE_MAGNITUDE_MAX } from '../../../../src/detection/calibration/precision.ts';
import { CLOCK_MS, recordMapping } from '../../../fixture/stream/record-mapping.ts';

const decode = compileMapping(recordMapping());
const flat = (changes: Record<string, unknown>) =>
  decode({ series: 'a', timestamp: CLOCK_MS, value: 1, ...changes }, CLOCK_MS);

function reasonOf(decoded: ReturnType<typeof decode>): string {
  assert.equal(decoded.kind, 'dead-letter');
  return decoded.kind === 'dead-letter' ? decoded.reason : '';
}

test('a flat record becomes an observation', () => {
  assert.deepEqual(flat({ value: 1.5 }), {
    kind: 'observation',
    series: 'a',
    group: null,
    timestampMs: CLOCK_MS,
    value: 1.5,
  });
});

test('several series paths are joined by a slash, and numbers are ids as they are written', () => {
  const mapping = recordMapping({
    series: ['tags.host', 'points[0].name'],
    time: 'points[0].at',
    value: 'points[0].v',
  });
  const record = { tags: { host: 17 }, points: [{ name: 'cpu', at: CLOCK_MS, v: -0.5 }] };
  const decoded = compileMapping(mapping)(record, CLOCK_MS);
  assert.equal(decoded.kind === 'observation' && decoded.series, '17/cpu');
});

test('the text of a decimal number is a value, as it is a time', () => {
  for (const [text, value] of [
    ['12.5', 12.5],
    ['-3', -3],
    ['+.5', 0.5],
    ['7.', 7],
    ['1e-3', 0.001],
  ] as const) {
    const decoded = flat({ value: text, timestamp: String(CLOCK_MS) });
    assert.equal(decoded.kind === 'observation' && decoded.value, value, text);
  }
  assert.equal(reasonOf(flat({ value: '1e400' })), 'value-not-finite');
});

test('any other text is a dead letter that quotes the value and names the series', () => {
  for (const value of ['', ' 1', '12,5', '0x10', '1_000', 'nan', 'Infinity', '12.5 kW', true, {}, [1]]) {
    const decoded = flat({ value });
    assert.equal(reasonOf(decoded), 'value-not-a-number');
    assert.equal(decoded.series, 'a');
  }
  const decoded = flat({ value: '12,5' });
  assert.equal(decoded.kind === 'dead-letter' && decoded.detail, 'the value is "12,5", not a decimal number');
  for (const value of [null, undefined]) assert.equal(reasonOf(flat({ value })), 'value-missing');
});

test('a value that is not finite, or not in the single precision of the models, is refused', () => {
  for (const value of [Infinity, -Infinity, VALUE_MAGNITUDE_MAX * 1.01, 10n ** 40n]) {
    assert.equal(reasonOf(flat({ value })), 'value-not-finite');
  }
  for (const value of [VALUE_MAGNITUDE_MAX, -VALUE_MAGNITUDE_MAX, 0, 5e-324, 12n]) {
    assert.equal(flat({ value }).kind, 'observation');
  }
});

test('NaN is a missing value of its series, as a number and as the text that JSON needs', () => {
  for (const value of [Number.NaN, 'NaN']) {
    assert.deepEqual(flat({ value }), { kind: 'missing', series: 'a', timestampMs: CLOCK_MS });
  }
});

test('a series id is 1 to 1,024 bytes of UTF-8 without NUL or replacement character', () => {
  const longest = 'é'.repeat(SERIES_ID_BYTES_MAX / 2);
  assert.equal(flat({ series: longest }).kind, 'observation');
  assert.equal(flat({ series: 2 ** 53 - 1 }).kind, 'observation');
  for (const series of [`${longest}x`, 'a\0b', '\ud800', 'a\ufffd', 2 ** 53, Infinity, true, {}, []]) {
    assert.equal(reasonOf(flat({ series })), 'series-unreadable');
  }
  for (const series of [undefined, null, '']) assert.equal(reasonOf(flat({ series })), 'series-missing');
});

test('limits hold for what remains of an id after dropping, and the reason has the number and the remedy', () => {
  const long = 'x'.repeat(SERIES_ID_BYTES_MAX);
  const many = Object.fromEntries(Array.from({ length: 70 }, (_, i) => [`l${i}`, 'x']));
  const labelled = { labels: 'tags', dropLabels: ['id', 'l1', 'l2', 'l3', 'l4', 'l5', 'l6'] };
  const read = (mapping: Partial<RecordMapping>, fields: object) =>
    compileMapping(recordMapping(mapping))({ series: 'up', timestamp: CLOCK_MS, value: 1, ...fields }, CLOCK_MS);
  const written = `up{id="${long}",job="a"}`;
  const kept = (decoded: ReturnType<typeof read>) => (decoded.kind === 'observation' ? decoded.series : decoded);
  assert.equal(kept(read({ dropLabels: ['id'] }, { series: written })), 'up{job="a"}');
  assert.equal(kept(read({ idTemplate: '{__name__}/{job}' }, { series: written })), 'up/a');
  assert.equal(kept(read(labelled, { tags: { id: long, job: 'a' } })), 'up{job="a"}');
  assert.equal(read(labelled, { tags: many }).kind, 'observation');
  const detail = (decoded: ReturnType<typeof read>) => (decoded.kind === 'dead-letter' ? decoded.detail : '');
  const remedy = 'leave labels out by input.drop_labels, or at the sender';
  const tooLong = `the series id at "series" has 1041 bytes, more than 1024: ${remedy} (the longest is "id", 1024 bytes)`;
  assert.equal(detail(read({}, { series: written })), tooLong);
  assert.match(
    detail(read({ dropLabels: ['job'] }, { series: written })),
    /^the id that input makes of .* has 1033 bytes/,
  );
  assert.equal(detail(read({ labels: 'tags' }, { tags: many })), `the series has 70 labels, more than 64: ${remedy}`);
});

test('ids that are too long only when joined are refused', () => {
  const joined = compileMapping(recordMapping({ series: ['series', 'series'] }));
  const series = 'x'.repeat(SERIES_ID_BYTES_MAX / 2);
  assert.equal(reasonOf(joined({ series, timestamp: CLOCK_MS, value: 1 }, CLOCK_MS)), 'series-unreadable');
});

test('an event time may lie ahead of the clock as far as the limit', () => {
  assert.equal(flat({ timestamp: CLOCK_MS + 60_000 }).kind, 'observation');
  assert.equal(reasonOf(flat({ timestamp: CLOCK_MS + 60_001 })), 'time-in-future');
});

test('a dead letter names the series when it was decoded before the failure', () => {
  const series = (decoded: ReturnType<typeof decode>) => decoded.series;
  assert.equal(series(flat({ value: null })), 'a');
  assert.equal(series(flat({ timestamp: 'soon' })), 'a');
  assert.equal(series(flat({ series: null })), null);
});

test('a group is read only for series whose detector scores groups', () => {
  const grouped = compileMapping(recordMapping(), { groupSourceOf: (series) => (series === 'a' ? 'host' : null) });
  const record = { timestamp: CLOCK_MS, value: 1 };
  const group = (series: string, host: unknown) => grouped({ ...record, series, host }, CLOCK_MS);
  const named = group('a', 'web-1');
  assert.equal(named.kind === 'observation' && named.group, 'web-1');
  assert.equal(group('b', undefined).kind, 'observation');
  assert.equal(reasonOf(group('a', undefined)), 'group-missing');
  assert.equal(reasonOf(group('a', '\0\0\0\0')), 'group-missing');
});

test('labels make the groups of a detector that is grouped by them', () => {
  const grouped = compileMapping(recordMapping(), { groupSourceOf: () => ['job', 'instance'] });
  const group = (series: string) => {
    const decoded = grouped({ timestamp: CLOCK_MS, value: 1, series }, CLOCK_MS);
    return decoded.kind === 'observation' ? decoded.group : reasonOf(decoded);
  };
  assert.equal(group('up{instance="a:9100",job="node",zone="b"}'), '{instance="a:9100",job="node"}');
  assert.equal(group('up{job="node"}'), '{job="node"}');
  assert.equal(group('plant/line-7'), '{}');
});

test('series that differ in dropped labels alone are one', () => {
  const dropping = compileMapping({ ...recordMapping(), dropLabels: ['replica', 'zone'] });
  const series = (written: string) => dropping({ timestamp: CLOCK_MS, value: 1, series: written }, CLOCK_MS).series;
  assert.equal(series('up{job="node",replica="a"}'), 'up{job="node"}');
  assert.equal(series('up{job="node",replica="b",zone="c"}'), 'up{job="node"}');
  assert.equal(series('up{replica="a"}'), 'up');
  assert.equal(series('up{zone_id="a"}'), 'up{zone_id="a"}');
  assert.equal(series('replica'), 'replica');
});

test('only an object is a record', () => {
  for (const record of [null, 1, 'a', true]) assert.equal(reasonOf(decode(record, CLOCK_MS)), 'record-unreadable');
  assert.equal(reasonOf(decode([], CLOCK_MS)), 'series-missing');
});
