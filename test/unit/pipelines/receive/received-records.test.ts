import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { RecordMapping } from '../../../../src/config/config.ts';
import { REFUSED_LINES_MAX, recordsOfBodies } from '../../../../src/pipelines/receive/received-records.ts';
import type { PointsFormat } from '../../../../src/records/received-points.ts';
import { recordedRequests } from '../../../fixture/senders/recorded.ts';
import { emittedOtlp, snappyBlock, writeRequest } from '../../../fixture/stream/emitted-metrics.ts';
import { recordMapping } from '../../../fixture/stream/record-mapping.ts';

const NOW = 1_767_225_600_000;
const receiver = recordsOfBodies({
  mapping: recordMapping(),
  groupPathOf: (series) => (series.startsWith('unwatched') ? 'unwatched' : series.startsWith('rack') ? 'rack' : null),
});

function received(format: PointsFormat, bytes: Uint8Array | string, snappy = false) {
  const outcome = receiver({ format, bytes: Buffer.from(bytes as string), snappy, precision: 'ms' }, NOW);
  if (outcome.kind === 'unreadable') return outcome;
  const { records, ...others } = outcome;
  return { ...others, records: records.map(({ key, value }) => [key.toString(), JSON.parse(value.toString())]) };
}

test('each point is a record with the key of its series', () => {
  const series = {
    labels: { __name__: 'up', job: 'a' },
    samples: [
      [NOW, 1],
      [NOW + 15_000, 0],
    ],
  } as const;
  assert.deepEqual(received('remote-write', writeRequest([series])), {
    kind: 'records',
    unwatched: 0,
    missing: 0,
    refused: 0,
    reasons: [],
    records: [
      ['up{job="a"}', { series: 'up{job="a"}', timestamp: NOW, value: 1 }],
      ['up{job="a"}', { series: 'up{job="a"}', timestamp: NOW + 15_000, value: 0 }],
    ],
  });
});

test('points that no detector watches are counted, points that the stream would not take are refused', () => {
  const text = `unwatched f=1 ${NOW}\nm f=1 ${NOW + 3_600_000}\nm f=2 ${NOW}\nrack f=3 ${NOW}\nnonsense`;
  const outcome = received('line-protocol', text);
  assert.deepEqual(
    { ...outcome, reasons: [] },
    {
      kind: 'records',
      unwatched: 1,
      missing: 0,
      refused: 3,
      reasons: [],
      records: [['m_f', { series: 'm_f', timestamp: NOW, value: 2 }]],
    },
  );
});

test('JSON lines are the records themselves, with the key of their group where there is one', () => {
  const lines = [
    `{"series": "a", "timestamp": ${NOW}, "value": 1, "note": "kept"}`,
    `{"series": "rack-1", "rack": "r", "timestamp": ${NOW}, "value": 2}`,
    '{"series": "a"}',
    '',
  ].join('\r\n');
  const outcome = received('json-lines', lines);
  assert.deepEqual(
    { ...outcome, reasons: [] },
    {
      kind: 'records',
      unwatched: 0,
      missing: 0,
      refused: 1,
      reasons: [],
      records: [
        ['a', { series: 'a', timestamp: NOW, value: 1, note: 'kept' }],
        ['r', { series: 'rack-1', rack: 'r', timestamp: NOW, value: 2 }],
      ],
    },
  );
  assert.match(outcome.kind === 'records' ? outcome.reasons[0] : '', /^line 3: /);
});

test('JSON lines of which too many cannot be used are unreadable, and nothing of them is written', () => {
  const good = `{"series": "a", "timestamp": ${NOW}, "value": 1}\n`;
  const outcome = received('json-lines', good + 'x\n'.repeat(REFUSED_LINES_MAX));
  assert.deepEqual(outcome.kind === 'records' && [outcome.records.length, outcome.refused], [1, REFUSED_LINES_MAX]);
  assert.deepEqual(received('json-lines', good + 'x\n'.repeat(REFUSED_LINES_MAX + 1)).kind, 'unreadable');
});

test('a byte order mark before JSON lines is no part of the first record', () => {
  const outcome = received('json-lines', `\uFEFF{"series": "a", "timestamp": ${NOW}, "value": 1}`);
  assert.deepEqual(outcome.kind === 'records' && outcome.records, [['a', { series: 'a', timestamp: NOW, value: 1 }]]);
});

test('Snappy is inflated; what is none is unreadable', () => {
  const request = writeRequest([{ labels: { __name__: 'up' }, samples: [[NOW, 1]] }]);
  const outcome = received('remote-write', snappyBlock(request), true);
  assert.equal(outcome.kind === 'records' && outcome.records.length, 1);
  assert.equal(received('remote-write', request, true).kind, 'unreadable');
});

test('a metric of OpenTelemetry becomes records', async () => {
  const outcome = received('otlp-json', Buffer.from(await emittedOtlp('json', 'cumulative')));
  // Its times are those of this machine, far ahead of the clock of this test.
  assert.equal(outcome.kind === 'records' && outcome.refused, 4);
});

test('labels that are dropped count towards no limit of a series, in every format', async () => {
  const labels = Object.fromEntries(Array.from({ length: 72 }, (_, i) => [`l${i}`, 'x'.repeat(20)]));
  const dropLabels = Array.from({ length: 72 }, (_, i) => `l${i}`);
  const samples = [[NOW, 1]] as const;
  const request = writeRequest([{ labels: { __name__: 'up', job: 'a', ...labels }, samples }]);
  const tags = Object.entries({ job: 'a', ...labels }).map(([name, value]) => `${name}=${value}`);
  for (const [format, bytes] of [
    ['remote-write', request],
    ['line-protocol', Buffer.from(`up,${tags.join()} value=1 ${NOW}`)],
  ] as const) {
    const of = (mapping: Partial<RecordMapping>) => {
      const recordsOf = recordsOfBodies({ mapping: recordMapping(mapping), groupPathOf: () => null });
      return recordsOf({ format, bytes: Buffer.from(bytes), snappy: false, precision: 'ms' }, NOW);
    };
    const outcome = of({ dropLabels });
    assert.deepEqual(outcome.kind === 'records' && outcome.records.map(({ key }) => String(key)), ['up{job="a"}']);
    const refused = of({ dropLabels: ['l0'] });
    assert.match(
      refused.kind === 'records' ? refused.reasons[0] : '',
      /has 72 labels, more than 64: leave labels out by input.drop_labels/,
    );
  }
});

/** What `npm run senders` recorded: three counters, of queue I at 10 N + I, and what the sender adds. */
const RECORDED = {
  prometheus: 'remote-write',
  'prometheus-2': 'remote-write',
  vmagent: 'remote-write',
  'collector-remote-write': 'remote-write',
  'collector-otlp': 'otlp-protobuf',
  'fluent-bit-remote-write': 'remote-write',
  'fluent-bit-otlp': 'otlp-protobuf',
  'fluent-bit-influx': 'line-protocol',
} as const;

for (const [name, format] of Object.entries(RECORDED)) {
  test(`what ${name} wrote is read as it was scraped`, () => {
    const file = new URL(`../../../fixture/senders/${name}.json`, import.meta.url);
    const { headers } = JSON.parse(readFileSync(file, 'utf8')) as { headers: Record<string, string> };
    const recordsOf = recordsOfBodies({ mapping: recordMapping({ futureMsMax: null }), groupPathOf: () => null });
    for (const body of recordedRequests(`${name}.json`, 'bodies')) {
      const coding = headers['content-encoding'];
      const bytes = coding === 'zstd' ? zstdDecompressSync(body) : coding === 'gzip' ? gunzipSync(body) : body;
      const outcome = recordsOf({ format, bytes, snappy: coding === 'snappy', precision: 'ns' }, Date.now());
      assert.ok(outcome.kind === 'records', JSON.stringify(outcome));
      assert.deepEqual([outcome.refused, outcome.reasons], [0, []]);
      const jobs = outcome.records.map(({ key, value }) => ({ id: String(key), ...JSON.parse(String(value)) }));
      const queues = jobs.flatMap(({ id, value }) => (id.startsWith('jobs_total{') ? [[id, value]] : []));
      const actual = queues.map(([id]) => /queue="(\d)"/.exec(id)?.[1]);
      const expected = queues.map(([, value]) => String(value % 10));
      assert.deepEqual(actual, expected);
      assert.equal(new Set(queues.map(([id]) => id)).size, 3);
    }
  });
}
