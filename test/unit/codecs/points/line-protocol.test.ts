import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeLineProtocol } from '../../../../src/codecs/points/line-protocol.ts';
import { emittedLine } from '../../../fixture/stream/emitted-metrics.ts';

const NOW = 1_767_225_600_000;
const decode = (text: string) => {
  const decoded = decodeLineProtocol(text, { precision: 'ns', nowMs: NOW });
  if (decoded.kind !== 'points') throw new Error(decoded.detail);
  return decoded;
};
const seriesOf = (text: string) =>
  Object.fromEntries(decode(text).series.map(({ id, timestampsMs, values }) => [id, [timestampsMs, values]]));

test('a line of the Influx client is a series a field, with blanks, commas, quotes and line feeds in its texts', () => {
  assert.deepEqual(seriesOf(emittedLine(`${NOW}000001`)), {
    'cpu load_user{host="web=1, \\"a\\""}': [[NOW], [12.5]],
    'cpu load_procs{host="web=1, \\"a\\""}': [[NOW], [3]],
    'cpu load_up{host="web=1, \\"a\\""}': [[NOW], [1]],
  });
});

test('the field value has the name of its measurement; a line without a time has the time of its arrival', () => {
  assert.deepEqual(seriesOf('temp,room=a value=1.5e1\ntemp,room=a value=16i 1767225601000000000\r\n# a comment\n\n'), {
    'temp{room="a"}': [
      [NOW, NOW + 1_000],
      [15, 16],
    ],
  });
});

test('NaN and infinite values are missing, and take nothing from the other fields', () => {
  const { series, missing, refused } = decode(
    'm user=NaN,idle=2 0\nm  user=nan  0\nm user=inf 0\nm user=-Inf 0\nm user=1 0',
  );
  assert.deepEqual(Object.fromEntries(series.map(({ id, values }) => [id, values])), { m_idle: [2], m_user: [1] });
  assert.deepEqual([missing, refused], [4, 0]);
});

test('a tag without a value is no label', () => {
  assert.deepEqual(seriesOf('disk,volume=,host=a free=1 0\ndisk,host=a free=2 1000000'), {
    'disk_free{host="a"}': [
      [0, 1],
      [1, 2],
    ],
  });
});

test('a quote in a tag begins no text', () => {
  assert.deepEqual(seriesOf('m,t=a" f=1 0\nm,t=b f=2 0'), { 'm_f{t="a\\""}': [[0], [1]], 'm_f{t="b"}': [[0], [2]] });
});

test('a line that cannot be read is refused with its number, the others are used', () => {
  const { series, refused, reasons } = decode('m f=1 0\nm\nm f=abc 0\nm f=2 0x1\nm,tag f=1 0\nm =1 0\nm f=3 0');
  const actual = series.map(({ values }) => values);
  assert.deepEqual(actual, [[1, 3]]);
  assert.deepEqual(
    reasons.map((reason) => reason.slice(0, 7)),
    ['line 2:', 'line 3:', 'line 4:', 'line 5:', 'line 6:'],
  );
  assert.equal(refused, 5);
});

test('a line of which one field cannot be read adds none of its fields', () => {
  assert.deepEqual(seriesOf('m f=1,g=abc 0\nm f=2 0'), { m_f: [[0], [2]] });
});

test('quotes and escapes of one line change none of the others', () => {
  const text = 'm,t=a\\ b f=1,note="x\n y=2 0" 0\n# don\'t "\nm,t=c f=3 0\nm,t=a\\ b f=4 1000000';
  assert.deepEqual(seriesOf(text), {
    'm_f{t="a b"}': [
      [0, 1],
      [1, 4],
    ],
    'm_f{t="c"}': [[0], [3]],
  });
});

test('the precision is the unit of the times', () => {
  for (const [precision, time] of [
    ['s', 1],
    ['ms', 1_000],
    ['us', 1_000_000],
    ['ns', 1_000_000_000],
  ] as const) {
    const decoded = decodeLineProtocol(`m f=1 ${time}`, { precision, nowMs: NOW });
    assert.deepEqual(decoded.kind === 'points' && decoded.series[0].timestampsMs, [1_000], precision);
  }
});
