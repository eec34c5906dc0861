import type { RecordMapping } from '../../config/config.ts';
import { isPointsFormat, scoredInput } from '../../config/rekeyed-input.ts';
import type { SchemaSource } from '../formats/schema-source.ts';
import type { EncodedRecord } from '../formats/wire-header.ts';
import type { Undecodable } from '../observations/decoded.ts';
import type { FutureLimitOf } from '../observations/mapping.ts';
import { createDecoder, type RecordDecoder } from '../observations/record-decoder.ts';
import { compileValues } from '../observations/values-mapping.ts';
import { type PointsBody, pointsDecoder } from './decode-points.ts';
import { compilePointRecords, type PointRecords, type WatchedGroupPath } from './point-records.ts';
import { RefusedPoints, type SeriesPoints } from './series-points.ts';

/** The outcome of a record that may have many observations: records of one, or nothing. */
type SplitRecord = (PointRecords & { readonly kind: 'records' }) | Undecodable;

export interface RecordSplitter extends Pick<RecordDecoder, 'missingSchema' | 'loadSchemas'> {
  /** Never throws because of the contents of a record. Its own time is that of a line without. */
  split(record: EncodedRecord & { readonly timestampMs: number }, nowMs: number): SplitRecord;
}

interface SplitterOptions {
  readonly groupPathOf: WatchedGroupPath;
  readonly futureLimitOf: FutureLimitOf;
  readonly schemas: SchemaSource | null;
}

/** Splits records of an input that `holdsMany` into those of `scoredInput`. */
export function createRecordSplitter(mapping: RecordMapping, options: SplitterOptions): RecordSplitter {
  return isPointsFormat(mapping.format) ? splitterOfPoints(mapping, options) : splitterOfValues(mapping, options);
}

function splitterOfPoints(mapping: RecordMapping, { groupPathOf, futureLimitOf }: SplitterOptions): RecordSplitter {
  const decode = pointsDecoder(mapping);
  const recordsOf = compilePointRecords({ mapping: scoredInput(mapping), groupPathOf, futureLimitOf });
  return {
    missingSchema: () => null,
    loadSchemas: async () => {},
    split({ value, timestampMs }, nowMs) {
      const points = decode(bodyOf(mapping, value), timestampMs);
      if (points.kind === 'points') return { kind: 'records', ...recordsOf(points, nowMs) };
      return { kind: 'dead-letter', reason: 'record-unreadable', detail: points.detail, series: null };
    },
  };
}

const OPENING_BRACE = 0x7b;
/** JSON of OpenTelemetry begins with a brace, which no Protobuf of it does. */
function bodyOf({ format, timeUnit }: RecordMapping, bytes: Buffer): PointsBody {
  const precision = timeUnit === 'iso' ? 'ns' : timeUnit;
  const otlp = bytes[0] === OPENING_BRACE ? 'otlp-json' : 'otlp-protobuf';
  const pointsFormat = format === 'prometheus' ? 'remote-write' : format === 'otlp' ? otlp : 'line-protocol';
  return { format: pointsFormat, bytes, snappy: null, precision };
}

/** A value that is a dead letter is a refused point; where the record has no series, it is one itself. */
function splitterOfValues(mapping: RecordMapping, { groupPathOf, ...options }: SplitterOptions): RecordSplitter {
  // Which labels make ids and groups is decided where the records are written.
  const written = { ...mapping, idTemplate: null };
  const groupSourceOf = (series: string) => {
    const from = groupPathOf(series);
    return typeof from === 'string' && from !== 'unwatched' ? from : null;
  };
  const read = compileValues(written, { groupSourceOf, futureLimitOf: options.futureLimitOf });
  const recordsOf = compilePointRecords({ mapping: scoredInput(mapping), groupPathOf, ...options });
  const decoder = createDecoder<SplitRecord>(mapping.format, options.schemas, (record, nowMs) => {
    const refusals = new RefusedPoints();
    const series: SeriesPoints[] = [];
    let first: Undecodable | null = null;
    let missing = 0;
    for (const each of read(record, nowMs)) {
      if (each.kind === 'dead-letter') {
        first ??= each;
        refusals.add(each.series === null ? each.detail : `${each.series.slice(0, 200)}: ${each.detail}`);
        continue;
      }
      if (each.kind === 'missing') {
        missing++;
        continue;
      }
      const { series: id, group, timestampMs, value, extras } = each;
      series.push({
        id,
        name: id,
        labels: [],
        group,
        timestampsMs: [timestampMs],
        values: [value],
        ...(extras && { extras: [extras] }),
      });
    }
    if (first !== null && series.length === 0 && first.series === null) return first;
    return { kind: 'records', ...recordsOf({ series, missing, ...refusals.all }, nowMs) };
  });
  const { missingSchema, loadSchemas } = decoder;
  return { missingSchema, loadSchemas, split: decoder.decode };
}
