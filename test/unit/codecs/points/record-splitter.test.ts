import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRecordSplitter } from '../../../../src/codecs/points/record-splitter.ts';
import type { RecordMapping } from '../../../../src/config/config.ts';
import {
  emittedLine,
  emittedOtlp,
  snappyBlock,
  writeRequest,
  writeRequest2,
} from '../../../fixture/stream/emitted-metrics.ts';
import { CLOCK_MS, recordMapping } from '../../../fixture/stream/record-mapping.ts';

const groupPathOf = (series: string) =>
  series.startsWith('unwatched')
    ? 'unwatched'
    : series.startsWith('rack')
      ? 'g'
      : series.startsWith('by')
        ? ['job']
        : null;

function split(mapping: Partial<RecordMapping>, value: Uint8Array | string, nowMs = CLOCK_MS) {
  const options = { groupPathOf, futureLimitOf: () => 60_000, schemas: null };
  const splitter = createRecordSplitter(recordMapping({ futureMsMax: null, ...mapping }), options);
  const outcome = splitter.split({ value: Buffer.from(value as string), timestampMs: CLOCK_MS - 5 }, nowMs);
  if (outcome.kind === 'dead-letter') return outcome;
  const { kind: _, records, ...others } = outcome;
  return { ...others, records: records.map(({ key, value: each }) => [String(key), JSON.parse(String(each))]) };
}

const observation = (series: string, timestamp: number, value: number) => [series, { series, timestamp, value }];
const NOTHING_LOST = { unwatched: 0, refused: 0, reasons: [] };

test('a request of remote write is split, 1.0 and 2.0, with Snappy and without', () => {
  const series = [
    { labels: { __name__: 'up', job: 'a' }, samples: [[CLOCK_MS, 1]] as const },
    { labels: { __name__: 'unwatched' }, samples: [[CLOCK_MS, 1]] as const },
  ];
  const expected = { ...NOTHING_LOST, unwatched: 1, records: [observation('up{job="a"}', CLOCK_MS, 1)] };
  for (const request of [writeRequest(series), writeRequest2(series)]) {
    assert.deepEqual(split({ format: 'prometheus' }, request), expected);
    assert.deepEqual(split({ format: 'prometheus' }, snappyBlock(request)), expected);
  }
});

test('requests of OpenTelemetry are split, as Protobuf and as JSON', async () => {
  for (const encoding of ['protobuf', 'json'] as const) {
    const outcome = split({ format: 'otlp' }, await emittedOtlp(encoding, 'cumulative'), Date.now());
    const series = 'records' in outcome ? outcome.records.map(([key]) => String(key).split('{', 1)[0]) : [];
    assert.deepEqual(series.sort(), ['http.requests', 'http.seconds_count', 'http.seconds_sum', 'queue.fill']);
  }
});

test('lines are split; one without a time has that of its record', () => {
  const { records } = split({ format: 'influx', timeUnit: 'ns' }, `${emittedLine(`${CLOCK_MS}000000`)}\nm f=2`) as {
    records: unknown[];
  };
  assert.equal(records.length, 4);
  assert.deepEqual(records[3], observation('m_f', CLOCK_MS - 5, 2));
  assert.deepEqual(split({ format: 'influx', timeUnit: 's' }, `m f=2 ${CLOCK_MS / 1_000}`), {
    ...NOTHING_LOST,
    records: [observation('m_f', CLOCK_MS, 2)],
  });
});

test('what of a record cannot be used is counted with its reasons, and the rest is split', () => {
  const outcome = split(
    { format: 'influx', timeUnit: 'ms' },
    `m f=1 ${CLOCK_MS}\nnonsense\nm f=2 ${CLOCK_MS + 61_000}`,
  );
  assert.ok('records' in outcome);
  assert.deepEqual([outcome.records.length, outcome.refused], [1, 2]);
  assert.match(outcome.reasons[0], /^line 2: /);
  assert.match(outcome.reasons[1], /^m_f: .*future_limit/);
});

test('values of a record are split, those of a group with its id', () => {
  const record = { host: 'web', timestamp: CLOCK_MS, values: { cpu: 1, mem: 'no number', load: '2' } };
  assert.deepEqual(split({ series: ['host'], values: ['values'] }, JSON.stringify(record)), {
    ...NOTHING_LOST,
    records: [observation('web/cpu', CLOCK_MS, 1), observation('web/load', CLOCK_MS, 2)],
  });
  const grouped = { ...record, host: 'rack', g: 'r1', values: { cpu: 1 } };
  const outcome = split({ series: ['host'], values: ['values'] }, JSON.stringify(grouped));
  assert.deepEqual('records' in outcome && outcome.records, [
    ['r1', { series: 'rack/cpu', timestamp: CLOCK_MS, value: 1, g: 'r1' }],
  ]);
});

test('labels make groups, and some do not distinguish series', () => {
  const expected = {
    ...NOTHING_LOST,
    records: [['{job="a"}', { series: 'by_load{host="h",job="a"}', timestamp: CLOCK_MS, value: 1 }]],
  };
  const line = `by,replica=1,job=a,host=h load=1 ${CLOCK_MS}`;
  assert.deepEqual(split({ format: 'influx', timeUnit: 'ms', dropLabels: ['replica'] }, line), expected);
  const record = { name: 'by', tags: { replica: 1, job: 'a', host: 'h' }, fields: { load: 1 }, timestamp: CLOCK_MS };
  const mapping = { series: ['name'], labels: 'tags', values: ['fields'], dropLabels: ['replica'] };
  assert.deepEqual(split(mapping, JSON.stringify(record)), expected);
});

test('a record of which nothing can be read is a dead letter', () => {
  for (const [mapping, value] of [
    [{ format: 'prometheus' }, 'no snappy'],
    [{ format: 'otlp' }, '{'],
    [{ format: 'otlp' }, '\n\x7f'],
    [{ values: ['v'] }, '7'],
    [{ values: ['v'] }, '{"timestamp":1,"v":{"a":1}}'],
    [{ values: ['v'] }, '{"series":"a","timestamp":1}'],
  ] as const) {
    assert.equal('kind' in split(mapping, value) || value, true);
  }
});
