import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeRemoteWrite } from '../../../../../src/stream/codec/points/remote-write.ts';
import { writeRequest } from '../../../../fixture/stream/emitted-metrics.ts';

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
    refused: [],
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
  assert.deepEqual(decoded.kind === 'points' && decoded.refused.map(({ detail }) => detail), [
    'the metric has no name',
    'the series has 65 labels, more than 64',
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
