import { type ResourceLabels, resourceLabels } from '../../records/series/resource-labels.ts';
import { reasonOf } from '../quoted.ts';
import { readOtlpJson } from './otlp-json.ts';
import { readOtlpProtobuf } from './otlp-protobuf.ts';
import { SeriesNames } from './series-names.ts';
import { PointsBySeries, type PointsOfRecord } from './series-points.ts';

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
