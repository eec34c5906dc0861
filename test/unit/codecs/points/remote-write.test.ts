import assert from 'node:assert/strict';
import { test } from 'node:test';
import protobuf from 'protobufjs';
import { decodeRemoteWrite } from '../../../../src/codecs/points/remote-write.ts';
import { SeriesNames } from '../../../../src/codecs/points/series-names.ts';
import { RECORD_POINTS_MAX } from '../../../../src/codecs/points/series-points.ts';
import { inflateSnappy } from '../../../../src/kafka/batch/snappy.ts';
import { recordedRequests } from '../../../fixture/senders/recorded.ts';
import { writeRequest, writeRequest2 } from '../../../fixture/stream/emitted-metrics.ts';

const TIME = 1_767_225_600_000;

test('samples are points of their series, named by sorted labels', () => {
  const labels = { job: 'node', __name__: 'node_load1', instance: 'a:9100', empty: '' };
  const decoded = decodeRemoteWrite(
    writeRequest([
      {
        labels,
        samples: [
          [TIME, 0.5],
          [TIME + 15_000, -2e300],
        ],
      },
    ]),
  );
  assert.deepEqual(decoded, {
    kind: 'points',
    series: [
      {
        id: 'node_load1{instance="a:9100",job="node"}',
        name: 'node_load1',
        labels: [
          ['instance', 'a:9100'],
          ['job', 'node'],
        ],
        timestampsMs: [TIME, TIME + 15_000],
        values: [0.5, -2e300],
      },
    ],
    missing: 0,
    refused: 0,
    reasons: [],
  });
});

test('a staleness marker and a NaN are missing values', () => {
  const stale = new DataView(new ArrayBuffer(8));
  stale.setBigUint64(0, 0x7ff0000000000002n);
  const samples = [
    [TIME, stale.getFloat64(0)],
    [TIME + 1, Number.NaN],
    [TIME + 2, Number.POSITIVE_INFINITY],
    [TIME + 3, 4],
  ] as const;
  const decoded = decodeRemoteWrite(writeRequest([{ labels: { __name__: 'up' }, samples }]));
  assert.equal(decoded.kind, 'points');
  assert.deepEqual(decoded.kind === 'points' && [decoded.missing, decoded.series[0].values], [3, [4]]);
});

test('a series without a name, or with a label twice, is refused; the others are used', () => {
  const decoded = decodeRemoteWrite(
    writeRequest([
      { labels: { job: 'a' }, samples: [[TIME, 1]] },
      {
        labels: Object.fromEntries([['__name__', 'many'], ...Array.from({ length: 65 }, (_, i) => [`l${i}`, 'x'])]),
        samples: [[TIME, 1]],
      },
      { labels: { __name__: 'up' }, samples: [[TIME, 1]] },
    ]),
  );
  assert.deepEqual(decoded.kind === 'points' && decoded.series.map(({ id }) => id), ['up']);
  assert.deepEqual(decoded.kind === 'points' && [decoded.refused, ...decoded.reasons], [
    2,
    '{job="a"}: the metric has no name',
    'many{l0="x",l1="x"}: the series has 65 labels, more than 64: leave labels out by input.drop_labels, or at the sender',
  ]);
});

test('bytes that are cut off anywhere are unreadable, or points: nothing is thrown', () => {
  const bytes = writeRequest([
    {
      labels: { __name__: 'up', job: 'a' },
      samples: [
        [TIME, 1],
        [TIME + 1, 2],
      ],
    },
  ]);
  for (let length = 1; length < bytes.length; length++) {
    const { kind } = decodeRemoteWrite(bytes.subarray(0, length));
    assert.equal(kind, 'unreadable', `${length} bytes`);
  }
});

test('a request with more points and series than one may have is unreadable', () => {
  const empty = Buffer.alloc(2 * RECORD_POINTS_MAX + 2);
  for (let at = 0; at < empty.length; at += 2) empty[at] = 10;
  assert.equal(decodeRemoteWrite(empty.subarray(2)).kind, 'points');
  const decoded = decodeRemoteWrite(empty);
  assert.match(decoded.kind === 'unreadable' ? decoded.detail : '', /more than 200000 points and series/);
});

test('labels behind and between samples name the series as well', () => {
  const [label, sample] = [Buffer.from([10, 6, 10, 1, 0x6a, 18, 1, 0x61]), Buffer.from([18, 2, 16, 5])];
  const name = Buffer.concat([Buffer.from([10, 12, 10, 8]), Buffer.from('__name__'), Buffer.from([18, 0])]);
  const named = Buffer.concat([
    Buffer.from([10, 14, 10, 8]),
    Buffer.from('__name__'),
    Buffer.from([18, 2]),
    Buffer.from('up'),
  ]);
  for (const parts of [
    [sample, named, sample, label],
    [named, sample, label, sample],
    [label, named, sample, sample],
    [sample, sample, label, name, named],
  ]) {
    const fields = Buffer.concat(parts);
    const decoded = decodeRemoteWrite(Buffer.concat([Buffer.from([10, fields.length]), fields]));
    assert.deepEqual(decoded.kind === 'points' && decoded.series.map(({ id, timestampsMs }) => [id, timestampsMs]), [
      ['up{j="a"}', [5, 5]],
    ]);
  }
});

test('times before 1970 are what they are, and are refused as such', () => {
  const decoded = decodeRemoteWrite(writeRequest([{ labels: { __name__: 'up' }, samples: [[-5, 1]] }]));
  assert.deepEqual(decoded.kind === 'points' && decoded.series[0].timestampsMs, [-5]);
});

test('a request of 2.0 is the same points as one of 1.0, whatever the order of its texts', () => {
  const series = [
    {
      labels: { __name__: 'up', job: 'näch', instance: 'a"b' },
      samples: [
        [TIME, 1],
        [TIME + 1, Number.NaN],
      ] as const,
    },
    { labels: { __name__: 'up', job: 'a', empty: '' }, samples: [[TIME, 2]] as const },
    { labels: { job: 'unnamed' }, samples: [[TIME, 3]] as const },
  ];
  const expected = decodeRemoteWrite(writeRequest(series));
  const bytes = writeRequest2(series);
  assert.deepEqual(decodeRemoteWrite(bytes), expected);
  const at = bytes.indexOf(42);
  assert.deepEqual(decodeRemoteWrite(Buffer.concat([bytes.subarray(at), bytes.subarray(0, at)])), expected);
});

test('the series of a 2.0 request are those of its own symbols, whatever an earlier one named by the same places', () => {
  const names = new SeriesNames();
  const idsOf = (...labels: readonly Record<string, string>[]) => {
    const decoded = decodeRemoteWrite(
      writeRequest2(labels.map((each) => ({ labels: each, samples: [[TIME, 1]] }))),
      names,
    );
    return decoded.kind === 'points' && decoded.series.map(({ id }) => id);
  };
  assert.deepEqual(idsOf({ __name__: 'up', job: 'a' }), ['up{job="a"}']);
  assert.deepEqual(idsOf({ __name__: 'up', job: 'b' }), ['up{job="b"}']);
  assert.deepEqual(idsOf({ __name__: 'up', jo: 'bc' }, { __name__: 'up', job: 'c' }), ['up{jo="bc"}', 'up{job="c"}']);
});

test('symbols that are not there, labels without a value and labels without end are unreadable', () => {
  const detailOf = (bytes: Uint8Array) => {
    const decoded = decodeRemoteWrite(bytes);
    return decoded.kind === 'unreadable' ? decoded.detail : '';
  };
  assert.match(detailOf(Buffer.from([34, 0, 42, 4, 10, 2, 0, 9])), /a label is symbol 9 of 1/);
  assert.match(detailOf(Buffer.from([34, 1, 97, 42, 3, 10, 1, 0])), /the label a has no value/);
  const long = Buffer.concat([Buffer.from([34, 0xff, 0x7f]), Buffer.alloc(16_383, 'x')]);
  const many = Buffer.alloc(10 * 2 ** 20);
  const refs = Buffer.concat([Buffer.from([10, 0x80, 0x80, 0x80, 5]), many]);
  const series = Buffer.concat([Buffer.from([42, 0x85, 0x80, 0x80, 5]), refs]);
  assert.match(detailOf(Buffer.concat([long, series])), /the labels have more than 33554432 bytes/);
  assert.match(
    detailOf(
      Buffer.from(Array.from({ length: RECORD_POINTS_MAX + 3 }, (_, i) => (i < 2 ? [42, 0][i] : [34, 0])).flat()),
    ),
    /200000 symbols/,
  );
});

test('a sample of 2.0 has its start, unless that is not before it', () => {
  const series = [{ labels: { __name__: 'a_total' }, samples: [[TIME, 1]] as const }];
  const extrasOf = (startMs: number) => {
    const decoded = decodeRemoteWrite(writeRequest2(series, startMs));
    return decoded.kind === 'points' && decoded.series[0].extras;
  };
  assert.deepEqual(extrasOf(TIME - 5), [{ startMs: TIME - 5 }]);
  for (const startMs of [0, TIME, TIME + 1, -1]) assert.equal(extrasOf(startMs), undefined);
});

for (const version of ['remote write 1.0', 'remote write 2.0']) {
  test(`native histograms that Prometheus sends by ${version} have a count and a sum, gauges also quantiles`, () => {
    const [first, second] = recordedRequests('prometheus-native.json', version).map((body) => {
      const decoded = decodeRemoteWrite(inflateSnappy(body, 10_000));
      assert(decoded.kind === 'points');
      assert.deepEqual([decoded.refused, decoded.missing, decoded.histograms], [0, 0, { count: 2, points: 7 }]);
      return Object.fromEntries(
        decoded.series.map(({ name, labels, values: [value], extras }) => {
          assert.equal(extras, undefined);
          return [name + (labels.find(([label]) => label === 'quantile')?.[1] ?? ''), value];
        }),
      );
    });
    // By the rule of histogram_quantile().
    const quantiles = { 'size_bytes0.5': 2 ** (-1 / 6), 'size_bytes0.95': 2 ** 2.375, 'size_bytes0.99': 2 ** 2.475 };
    const gauge = { size_bytes_count: 10, size_bytes_sum: 25 };
    assert.deepEqual(rounded(first), rounded({ wait_seconds_count: 20, wait_seconds_sum: 50, ...gauge, ...quantiles }));
    assert.deepEqual([second.wait_seconds_count, second.wait_seconds_sum], [30, 75]);
  });
}

const rounded = (values: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Math.round(value * 1e9) / 1e9]));

/** A request of one series with one native histogram, whose fields `write` writes. */
function nativeRequest(write: (histogram: protobuf.Writer) => protobuf.Writer): Uint8Array {
  const writer = protobuf.Writer.create();
  writer.uint32(10).fork();
  writer.uint32(10).fork().uint32(10).string('__name__').uint32(18).string('wait').ldelim();
  write(writer.uint32(34).fork()).ldelim();
  return writer.ldelim().finish();
}

function nativePoints(write: (histogram: protobuf.Writer) => protobuf.Writer) {
  const decoded = decodeRemoteWrite(nativeRequest(write));
  assert(decoded.kind === 'points', JSON.stringify(decoded));
  const values = Object.fromEntries(
    decoded.series.map(({ id, values, extras }) => [id, [values[0], extras?.[0] ?? null]]),
  );
  return { missing: decoded.missing, values };
}

test('a stale native histogram is a missing value; a start and the digits of a large count are kept', () => {
  const stale = nativePoints((histogram) =>
    histogram.uint32(25).fixed32(2).fixed32(0x7ff00000).uint32(120).int64(TIME),
  );
  assert.deepEqual(stale, { missing: 2, values: {} });
  const large = nativePoints((histogram) =>
    histogram
      .uint32(8)
      .uint64('9007199254740993')
      .uint32(25)
      .double(7)
      .uint32(120)
      .int64(TIME)
      .uint32(136)
      .int64(TIME - 60_000),
  );
  const startMs = TIME - 60_000;
  assert.deepEqual(large.values, {
    wait_count: [9_007_199_254_740_992, { startMs, low: 1 }],
    wait_sum: [7, { startMs }],
  });
});

test('a gauge histogram with custom bounds has quantiles between them; a gap of any length is no list of buckets', () => {
  const spans = (histogram: protobuf.Writer, offset: number) =>
    histogram
      .uint32(90)
      .fork()
      .uint32(16)
      .uint32(2)
      .ldelim()
      .uint32(90)
      .fork()
      .uint32(8)
      .sint32(offset)
      .uint32(16)
      .uint32(1)
      .ldelim();
  const counts = (histogram: protobuf.Writer) =>
    histogram.uint32(106).fork().double(4).double(4).double(2).ldelim().uint32(112).int32(3).uint32(120).int64(TIME);
  const custom = nativePoints((histogram) => {
    histogram.uint32(17).double(10).uint32(25).double(30).uint32(32).sint32(-53);
    return counts(spans(histogram, 0)).uint32(130).fork().double(1).double(2).ldelim();
  });
  const quantile = (q: number) => `wait{quantile="${q}"}`;
  assert.deepEqual(custom.values, {
    wait_count: [10, null],
    wait_sum: [30, null],
    [quantile(0.5)]: [1.25, null],
    [quantile(0.95)]: [2, null],
    [quantile(0.99)]: [2, null],
  });
  const gap = nativePoints((histogram) => {
    histogram.uint32(17).double(10).uint32(25).double(30);
    return counts(spans(histogram, 1_000));
  });
  assert(Number(gap.values[quantile(0.99)][0]) > 2 ** 1_000);
});
