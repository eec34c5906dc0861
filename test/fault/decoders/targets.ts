/** What reads bytes of others: each takes any bytes, and returns what it made of them, in a few words. */

import { readRoutesFile } from '../../../src/alerts/routes/routes-file.ts';
import { decodeSettings } from '../../../src/checkpoint/known-settings.ts';
import {
  decodePauses,
  decodePosition,
  decodeVersion,
  decodeWarmStarts,
} from '../../../src/checkpoint/partition-records.ts';
import { createRecordDecoder } from '../../../src/codecs/observations/record-decoder.ts';
import { createRecordSplitter } from '../../../src/codecs/points/record-splitter.ts';
import { readDetectorsFile } from '../../../src/config/detectors-file.ts';
import { inflateLz4 } from '../../../src/kafka/batch/compression.ts';
import { inflateSnappy } from '../../../src/kafka/batch/snappy.ts';
import { readRangeAnswer } from '../../../src/pipelines/poll/range-answer.ts';
import { recordsOfBodies } from '../../../src/pipelines/receive/received-records.ts';
import { changeText } from '../../../src/records/changes/deployment.ts';
import { Deployments } from '../../../src/records/changes/deployments.ts';
import { readChangeRecord } from '../../../src/records/changes/read-change.ts';
import type { PointsFormat } from '../../../src/records/received-points.ts';
import { SchemaTable } from '../../fixture/schema-registry/schema-table.ts';
import { recordMapping } from '../../fixture/stream/record-mapping.ts';

export interface FuzzTarget {
  readonly name: string;
  /** A parser that takes long for a long text, within its limits: fewer inputs in a test. */
  readonly isSlow?: boolean;
  /** Throws where it may not: the bytes are a case. */
  decode(bytes: Buffer): string;
}

export const NOW = 1_767_225_600_000;
/** A little above what the limits of a body allow, so that they are met. */
const INFLATED_MAX = 8 * 1024 * 1024;

export const AVRO_SCHEMA = JSON.stringify({
  type: 'record',
  name: 'Reading',
  fields: [
    { name: 'series', type: ['null', 'string'] },
    { name: 'timestamp', type: 'long' },
    { name: 'value', type: ['null', 'double', 'string'] },
    { name: 'tags', type: { type: 'map', values: 'string' } },
    { name: 'list', type: { type: 'array', items: 'null' } },
  ],
});
export const PROTOBUF_SCHEMA = `syntax = "proto3";
message Reading { string series = 1; int64 timestamp = 2; double value = 3; map<string, string> tags = 4; Reading inner = 5; }`;

const receive = recordsOfBodies({ mapping: recordMapping({ futureMsMax: null }), groupPathOf: () => null });

function body(name: string, format: PointsFormat, snappy = false): FuzzTarget {
  return {
    name,
    decode(bytes) {
      const outcome = receive({ format, bytes, snappy, precision: 'ns' }, NOW);
      return outcome.kind === 'unreadable'
        ? outcome.detail
        : `${Math.min(outcome.records.length, 3)} ${outcome.reasons[0] ?? ''}`;
    },
  };
}

function splitting(name: string, mapping: Parameters<typeof recordMapping>[0]): FuzzTarget {
  const options = { groupPathOf: () => null, futureLimitOf: () => 60_000, schemas: null };
  const splitter = createRecordSplitter(recordMapping({ futureMsMax: null, ...mapping }), options);
  return {
    name,
    decode(value) {
      const split = splitter.split({ value, timestampMs: NOW }, NOW);
      return split.kind === 'dead-letter'
        ? split.detail
        : `${Math.min(split.records.length, 3)} ${split.reasons[0] ?? ''}`;
    },
  };
}

async function records(name: string, format: 'json' | 'json-schema' | 'avro' | 'protobuf'): Promise<FuzzTarget> {
  const schemas = new SchemaTable();
  schemas.add('AVRO', AVRO_SCHEMA);
  schemas.add('PROTOBUF', PROTOBUF_SCHEMA);
  const decoder = createRecordDecoder(recordMapping({ format, labels: 'tags' }), { schemas });
  await decoder.loadSchemas([1, 2, 3], NOW);
  return {
    name,
    decode(bytes) {
      if (decoder.missingSchema({ value: bytes }, NOW) !== null) return 'another schema';
      const decoded = decoder.decode({ value: bytes }, NOW);
      return decoded.kind === 'dead-letter' ? decoded.detail : decoded.kind;
    },
  };
}

/** What Tidewatch wrote itself, or a checksum holds: damaged bytes may be refused by an error that says what is. */
function refusing(name: string, ...reads: readonly ((bytes: Buffer) => unknown)[]): FuzzTarget {
  return {
    name,
    decode: (bytes) =>
      reads
        .map((read) => {
          try {
            return read(bytes) === null ? 'null' : 'read';
          } catch (error) {
            if (!(error instanceof Error) || error instanceof TypeError) throw error;
            return error.message;
          }
        })
        .join(),
  };
}

function file(name: string, read: (text: string, problems: string[]) => unknown): FuzzTarget {
  return {
    name,
    isSlow: true,
    decode(bytes) {
      const problems: string[] = [];
      return read(bytes.toString(), problems) === null ? (problems[0] ?? 'none') : `read ${problems[0] ?? ''}`;
    },
  };
}

const secrets = {
  env: {},
  readFile(): string {
    throw new Error('there is no file');
  },
};

const range = { query: 'up', fromMs: NOW - 600_000, toMs: NOW, stepMs: 60_000, name: 'up' };

export async function fuzzTargets(): Promise<readonly FuzzTarget[]> {
  return [
    body('remote-write', 'remote-write'),
    body('remote-write-snappy', 'remote-write', true),
    body('otlp-protobuf', 'otlp-protobuf'),
    body('otlp-json', 'otlp-json'),
    body('line-protocol', 'line-protocol'),
    body('json-lines', 'json-lines'),
    splitting('topic-prometheus', { format: 'prometheus' }),
    splitting('topic-otlp', { format: 'otlp' }),
    splitting('topic-influx', { format: 'influx', timeUnit: 'ns' }),
    splitting('topic-values', { series: ['name'], labels: 'tags', values: ['fields', 'extra.load'] }),
    await records('record-json', 'json'),
    await records('record-json-schema', 'json-schema'),
    await records('record-avro', 'avro'),
    await records('record-protobuf', 'protobuf'),
    refusing('snappy', (bytes) => inflateSnappy(bytes, INFLATED_MAX)),
    refusing('lz4', (bytes) => inflateLz4(bytes, INFLATED_MAX)),
    refusing('changelog', decodePosition, decodeVersion, decodePauses, decodeWarmStarts, decodeSettings),
    file('detectors-file', (text, problems) => readDetectorsFile('file', text, problems)),
    file('routes-file', (content, problems) => readRoutesFile({ name: 'file', content }, secrets, problems)),
    {
      name: 'known-change',
      decode(bytes) {
        const read = readChangeRecord(bytes, NOW);
        if (read.kind === 'problems') return read.problems.map(({ field }) => field).join();
        const known = new Deployments(() => NOW);
        known.put(read.change, NOW);
        const series = { series: 'shop/cart{service="web"}', group: null };
        return `${known.between(0, 2 * NOW, [series]).length} ${changeText(read.change, NOW)}`;
      },
    },
    {
      name: 'range-answer',
      decode: (bytes) => readRangeAnswer(bytes.length % 7 === 0 ? 422 : 200, bytes.toString(), range).kind,
    },
  ];
}
