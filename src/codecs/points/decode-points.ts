import type { RecordMapping } from '../../config/config.ts';
import { inflateSnappy } from '../../kafka/batch/snappy.ts';
import type { ReceivedPoints } from '../../records/received-points.ts';
import { type ResourceLabels, resourceLabels } from '../../records/series/resource-labels.ts';
import { reasonOf } from '../formats/quoted.ts';
import { decodeLineProtocol } from './line-protocol.ts';
import { readOtlpJson } from './otlp-json.ts';
import { readOtlpProtobuf } from './otlp-protobuf.ts';
import { decodeRemoteWrite, isPlainRequest } from './remote-write.ts';
import { SeriesNames } from './series-names.ts';
import { PointsBySeries, type PointsOfRecord } from './series-points.ts';

/** Bytes of points after Snappy. */
const INFLATED_BYTES_MAX = 32 * 1024 * 1024;

/** JSON lines are records already. */
export type PointsBody = ReceivedPoints & { readonly format: Exclude<ReceivedPoints['format'], 'json-lines'> };

/** Never throws because of the bytes. `nowMs` is the time of lines that have none. */
type DecodePoints = (body: PointsBody, nowMs: number) => PointsOfRecord;

/** Remembers the series that bodies name. */
export function pointsDecoder(mapping: Pick<RecordMapping, 'resourceLabels' | 'dropLabels'>): DecodePoints {
  const labelsOf = resourceLabels(mapping.resourceLabels);
  const remembered = new Map<string, SeriesNames>();
  const namesOf = (format: string) => {
    const names = remembered.get(format) ?? new SeriesNames(mapping.dropLabels);
    remembered.set(format, names);
    return names;
  };
  return ({ format, bytes: given, snappy, precision }, nowMs) => {
    let bytes = given;
    try {
      if (snappy ?? (format === 'remote-write' && !isPlainRequest(given)))
        bytes = inflateSnappy(given, INFLATED_BYTES_MAX);
    } catch (error) {
      return { kind: 'unreadable', detail: `the body is no Snappy block: ${reasonOf(error)}` };
    }
    const names = namesOf(format);
    switch (format) {
      case 'remote-write':
        return decodeRemoteWrite(bytes, names);
      case 'otlp-protobuf':
        return decodeOtlp(bytes, 'protobuf', names, labelsOf);
      case 'otlp-json':
        return decodeOtlp(bytes, 'json', names, labelsOf);
      default:
        return decodeLineProtocol(bytes.toString(), { precision, nowMs, names });
    }
  };
}

/**
 * Decodes an ExportMetricsServiceRequest of OTLP 1.x, as Protobuf or JSON. Gauges and sums are series of their values,
 * cumulative ones too. A histogram becomes the series `NAME_count` and `NAME_sum`; where it covers one interval
 * (delta), also `NAME{quantile="0.5"}` and so on, interpolated within a bucket. A summary has the quantiles that it was
 * sent with.
 */
export function decodeOtlp(
  bytes: Uint8Array,
  encoding: 'protobuf' | 'json',
  names: SeriesNames = new SeriesNames(),
  labelsOf: ResourceLabels = resourceLabels(),
): PointsOfRecord {
  const points = new PointsBySeries();
  const read = encoding === 'protobuf' ? readOtlpProtobuf : readOtlpJson;
  try {
    read(bytes, { points, names, resourceLabels: labelsOf });
  } catch (error) {
    return { kind: 'unreadable', detail: `not an ExportMetricsServiceRequest in ${encoding}: ${reasonOf(error)}` };
  }
  return points.decoded();
}
