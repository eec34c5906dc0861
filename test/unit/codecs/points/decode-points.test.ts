import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeOtlp, pointsDecoder } from '../../../../src/codecs/points/decode-points.ts';
import type { PointsOfRecord } from '../../../../src/codecs/points/series-points.ts';
import { inflateSnappy } from '../../../../src/kafka/batch/snappy.ts';
import { emittedOtlp } from '../../../fixture/stream/emitted-metrics.ts';

const valuesOf = (decoded: PointsOfRecord) => {
  assert.equal(decoded.kind, 'points');
  if (decoded.kind !== 'points') return {};
  return Object.fromEntries(decoded.series.map(({ id, values }) => [id, values]));
};

const PLACE = 'instance="a:1",job="shop",otel_scope_name="test"';

for (const encoding of ['protobuf', 'json'] as const) {
  test(`cumulative metrics of OpenTelemetry's JS SDK are series of their values, as ${encoding}`, async () => {
    const decoded = decodeOtlp(await emittedOtlp(encoding, 'cumulative'), encoding);
    assert.deepEqual(valuesOf(decoded), {
      [`http.requests{${PLACE},route="/a"}`]: [7],
      [`queue.fill{${PLACE}}`]: [0.5],
      [`http.seconds_count{${PLACE},route="/a"}`]: [3],
      [`http.seconds_sum{${PLACE},route="/a"}`]: [33],
    });
    const [first] = decoded.kind === 'points' ? decoded.series : [];
    const ageMs = Date.now() - (first?.timestampsMs[0] ?? 0);
    assert.ok(ageMs >= 0 && ageMs < 600_000, `${ageMs} ms old`);
  });

  test(`a histogram of one interval has quantiles, as ${encoding}`, async () => {
    const decoded = decodeOtlp(await emittedOtlp(encoding, 'delta'), encoding);
    const values = valuesOf(decoded);
    assert.deepEqual(values[`http.requests{${PLACE},route="/a"}`], [7]);
    // One value in each of (0, 1], (1, 5] and beyond 25: the median is half-way through the second bucket.
    assert.deepEqual(values[`http.seconds{${PLACE},quantile="0.5",route="/a"}`], [3]);
    assert.deepEqual(values[`http.seconds{${PLACE},quantile="0.99",route="/a"}`], [25]);
  });
}

test('an exponential histogram of one interval has quantiles within a bucket of three hundredths, in both encodings', async () => {
  for (const encoding of ['protobuf', 'json'] as const) {
    const values = valuesOf(decodeOtlp(await emittedOtlp(encoding, 'delta', 'exponential'), encoding));
    const quantile = (q: string) => values[`http.seconds{${PLACE},quantile="${q}",route="/a"}`]?.[0] ?? Number.NaN;
    // Observed: 1, 2 and 30.
    assert.ok(Math.abs(quantile('0.5') / 2 - 1) < 0.03, `${encoding} ${quantile('0.5')}`);
    assert.ok(Math.abs(quantile('0.99') / 30 - 1) < 0.03, `${encoding} ${quantile('0.99')}`);
    assert.deepEqual(values[`http.seconds_count{${PLACE},route="/a"}`], [3]);
  }
});

test('JSON may leave out or null what is zero, and quotes integers', () => {
  const [at, later] = [{ timeUnixNano: '1767225600000000000' }, { timeUnixNano: '1767225660000000000' }];
  const zeros = [
    { ...at, count: '3', zeroCount: '3', sum: 0 },
    { ...later, count: '1', zeroCount: '1', positive: null },
  ];
  const metrics = [
    { name: 'wait', exponentialHistogram: { aggregationTemporality: 1, dataPoints: zeros } },
    { name: 'size', gauge: { dataPoints: [{ ...at, asInt: '1152921504606847076' }] } },
  ];
  const decoded = decodeOtlp(
    Buffer.from(JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] })),
    'json',
  );
  const quantiles = ['0.5', '0.95', '0.99'].map((q) => [`wait{quantile="${q}"}`, [0, 0]]);
  const others = { wait_count: [3, 1], wait_sum: [0], size: [2 ** 60] };
  assert.deepEqual(valuesOf(decoded), { ...Object.fromEntries(quantiles), ...others });
  assert.deepEqual(decoded.kind === 'points' && decoded.series.at(-1)?.extras, [{ low: 100 }]);
});

test('a point without a recorded value, and NaN, are missing values', () => {
  const json = {
    resourceMetrics: [
      {
        scopeMetrics: [
          {
            metrics: [
              {
                name: 'up',
                gauge: {
                  dataPoints: [
                    { asInt: '1', timeUnixNano: '1000000', flags: 1 },
                    { asDouble: 'NaN', timeUnixNano: '1500000' },
                    { asInt: '2', timeUnixNano: '2000000' },
                  ],
                },
              },
            ],
          },
        ],
      },
    ],
  };
  const decoded = decodeOtlp(Buffer.from(JSON.stringify(json)), 'json');
  assert.deepEqual(decoded, {
    kind: 'points',
    series: [{ id: 'up', name: 'up', labels: [], timestampsMs: [2], values: [2] }],
    missing: 2,
    refused: 0,
    reasons: [],
  });
});

test('what is no request is unreadable', async () => {
  for (const text of [
    '',
    '7',
    'null',
    '{"resourceMetrics": 7}',
    '{"resourceMetrics": [7]}',
    '[[[',
    '{"resourceMetrics":[{"scopeMetrics":{}}]}',
  ]) {
    const { kind } = decodeOtlp(Buffer.from(text), 'json');
    assert.ok(kind === 'unreadable' || text.includes('[7]'), text);
  }
  const bytes = await emittedOtlp('protobuf', 'delta');
  for (let length = 1; length < bytes.length; length += 7) {
    const { kind } = decodeOtlp(bytes.subarray(0, length), 'protobuf');
    assert.equal(kind, 'unreadable', `${length} bytes`);
  }
});

test('JSON that has its metrics under another name is unreadable, and names the right one', () => {
  const metric = { name: 'up', gauge: { dataPoints: [{ asDouble: 1, timeUnixNano: '1767225600000000000' }] } };
  const bodies: readonly [string, object][] = [
    ['resourceMetrics', { resource_metrics: [{ scope_metrics: [{ metrics: [metric] }] }] }],
    ['scopeMetrics', { resourceMetrics: [{ instrumentationLibraryMetrics: [{ metrics: [metric] }] }] }],
    ['dataPoints', { resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'up', gauge: { points: [1] } }] }] }] }],
    ['gauge', { resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'up', intGauge: { dataPoints: [1] } }] }] }] }],
    ['an object', [{ resourceMetrics: [{ scopeMetrics: [{ metrics: [metric] }] }] }]],
  ];
  for (const [expected, body] of bodies) {
    const decoded = decodeOtlp(Buffer.from(JSON.stringify(body)), 'json');
    assert.match(decoded.kind === 'unreadable' ? decoded.detail : '', new RegExp(`${expected}.* was expected`));
  }
  const withNulls = { name: 'down', unit: null, gauge: null, sum: null };
  for (const body of [
    {},
    { resourceMetrics: [] },
    { resourceMetrics: [{ resource: {}, scopeMetrics: [] }] },
    { resourceMetrics: [{ scopeMetrics: [{ scope: null, metrics: [metric, withNulls] }] }] },
  ]) {
    assert.equal(decodeOtlp(Buffer.from(JSON.stringify(body)), 'json').kind, 'points');
  }
});

test('a point of JSON that has its value under another name is refused; one without a value is missing', () => {
  const of = (point: object) => {
    const dataPoints = [{ timeUnixNano: '1767225600000000000', ...point }];
    const body = { resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'up', gauge: { dataPoints } }] }] }] };
    return decodeOtlp(Buffer.from(JSON.stringify(body)), 'json');
  };
  for (const point of [{ value: 5 }, { as_double: 5 }, { asFloat: 5, asInt: null }]) {
    const decoded = of(point);
    assert.match(decoded.kind === 'unreadable' ? decoded.detail : '', /is no name of OTLP\/JSON: asDouble, asInt was/);
  }
  for (const point of [{}, { flags: 1, attributes: [], exemplars: [] }, { asInt: null }]) {
    const decoded = of(point);
    assert.equal(decoded.kind === 'points' && decoded.missing, 1);
  }
});

test('remote write without a coding is Snappy or plain', () => {
  // As npm's prometheus-remote-write 0.5.1 sends it, without Content-Encoding, recorded on 2026-11-28.
  const sent = Buffer.from(
    'RpgKRAoRCghfX25hbWVfXxIFcXVldWUKCwoDam9iEgRzaG9wEhAJAAABAiQUQBCA0Oq2tzMSERIg4L8Q4KTutrcz',
    'base64',
  );
  const decode = pointsDecoder({});
  const read = (bytes: Buffer, snappy: boolean | null) =>
    decode({ format: 'remote-write', bytes, snappy, precision: 'ns' }, 0);
  for (const bytes of [sent, inflateSnappy(sent, 100)]) {
    assert.deepEqual(valuesOf(read(bytes, null)), { 'queue{job="shop"}': [5, -0.5] });
  }
  assert.deepEqual(valuesOf(read(Buffer.alloc(0), null)), {});
  // Metadata alone.
  assert.deepEqual(valuesOf(read(Buffer.from([0x1a, 2, 8, 1]), null)), {});
  const refused = read(Buffer.from('nonsense'), null);
  assert.match(refused.kind === 'unreadable' ? refused.detail : '', /^the body is no Snappy block/);
});
