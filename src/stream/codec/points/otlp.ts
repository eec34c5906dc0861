import { reasonOf } from '../quoted.ts';
import {
  type Int64,
  type OtlpHistogramPoint,
  type OtlpKeyValue,
  type OtlpMetric,
  type OtlpRequest,
  type OtlpSummaryPoint,
  readOtlpProtobuf,
} from './otlp-messages.ts';
import { PointsBySeries, type PointsOfRecord, type SeriesLabels, sortedLabels } from './series-points.ts';

const DELTA = 1;
/** Data points flag: there is no value. */
const NO_RECORDED_VALUE = 1;
const NANOS_PER_MS = 1_000_000;
/** Quantiles of a histogram that covers one interval. */
const QUANTILES = [0.5, 0.95, 0.99];
/** Attributes of the resource that become labels, as Prometheus names them; the others do not distinguish series. */
const RESOURCE_LABELS: Readonly<Record<string, string>> = {
  'service.name': 'job',
  'service.instance.id': 'instance',
  'host.name': 'host',
};

/**
 * Decodes an ExportMetricsServiceRequest of OTLP 1.x, as Protobuf or JSON. Gauges and sums are series of their values,
 * cumulative ones too. A histogram becomes the series `NAME_count` and `NAME_sum`; where it covers one interval
 * (delta), with explicit bounds, also `NAME{quantile="0.5"}` and so on, interpolated within a bucket. A summary has the
 * quantiles that it was sent with.
 */
export function decodeOtlp(bytes: Uint8Array, encoding: 'protobuf' | 'json'): PointsOfRecord {
  const points = new PointsBySeries();
  try {
    const request =
      encoding === 'protobuf' ? readOtlpProtobuf(bytes) : (JSON.parse(Buffer.from(bytes).toString()) as OtlpRequest);
    if (typeof request !== 'object' || request === null) throw new TypeError('an object was expected');
    for (const { resource, scopeMetrics } of listOf(request.resourceMetrics)) {
      const labels = resourceLabels(listOf(resource?.attributes));
      for (const { metrics } of listOf(scopeMetrics)) {
        for (const metric of listOf(metrics)) addMetric(points, metric, labels);
      }
    }
  } catch (error) {
    return { kind: 'unreadable', detail: `not an ExportMetricsServiceRequest in ${encoding}: ${reasonOf(error)}` };
  }
  return points.decoded();
}

type Pairs = readonly (readonly [string, string])[];

function addMetric(points: PointsBySeries, metric: OtlpMetric, resource: Pairs): void {
  const name = typeof metric.name === 'string' ? metric.name : '';
  const { gauge, sum, histogram, exponentialHistogram, summary } = metric;
  const numbers = gauge ?? sum;
  for (const point of listOf(numbers?.dataPoints)) {
    const value = point.asDouble ?? (point.asInt === undefined ? Number.NaN : numberOf(point.asInt));
    add(points, { name, resource, point }, Number(value));
  }
  for (const { dataPoints, aggregationTemporality } of [histogram, exponentialHistogram].filter((each) => !!each)) {
    const ofInterval = isDelta(aggregationTemporality);
    for (const point of listOf(dataPoints)) addHistogram(points, { name, resource, point, ofInterval });
  }
  for (const point of listOf(summary?.dataPoints)) addSummary(points, name, resource, point);
}

interface PlacedPoint {
  readonly name: string;
  readonly resource: Pairs;
  readonly point: {
    readonly timeUnixNano?: Int64;
    readonly attributes?: readonly OtlpKeyValue[];
    readonly flags?: number;
  };
  readonly quantile?: number | undefined;
}

function add(points: PointsBySeries, placed: PlacedPoint, value: number): void {
  const { name, resource, point, quantile } = placed;
  const series = points.open(name, labelsOf(resource, listOf(point.attributes), quantile));
  const nanos = point.timeUnixNano === undefined ? 0 : numberOf(point.timeUnixNano);
  const isMissing = ((point.flags ?? 0) & NO_RECORDED_VALUE) !== 0;
  if (series !== null) points.add(series, Math.round(nanos / NANOS_PER_MS), isMissing ? Number.NaN : value);
}

interface PlacedHistogram {
  readonly name: string;
  readonly resource: Pairs;
  readonly point: OtlpHistogramPoint;
  /** It covers one interval, not all since a start. */
  readonly ofInterval: boolean;
}

function addHistogram(points: PointsBySeries, { name, resource, point, ofInterval }: PlacedHistogram): void {
  add(points, { name: `${name}_count`, resource, point }, numberOf(point.count ?? Number.NaN));
  if (point.sum !== undefined) add(points, { name: `${name}_sum`, resource, point }, Number(point.sum));
  if (!ofInterval) return;
  const bounds = listOf(point.explicitBounds).map(Number);
  const counts = listOf(point.bucketCounts).map(numberOf);
  if (bounds.length === 0 || counts.length !== bounds.length + 1) return;
  for (const quantile of QUANTILES) {
    add(points, { name, resource, point, quantile }, quantileOf(quantile, bounds, counts));
  }
}

function addSummary(points: PointsBySeries, name: string, resource: Pairs, point: OtlpSummaryPoint): void {
  add(points, { name: `${name}_count`, resource, point }, numberOf(point.count ?? Number.NaN));
  add(points, { name: `${name}_sum`, resource, point }, Number(point.sum ?? Number.NaN));
  for (const { quantile = 0, value = 0 } of listOf(point.quantileValues)) {
    add(points, { name, resource, point, quantile }, Number(value));
  }
}

/**
 * Linear within the bucket that holds the rank, from 0 in the first one, as `histogram_quantile()` of Prometheus. The
 * last bucket has no upper bound: its lower one. NaN where nothing was counted.
 */
function quantileOf(quantile: number, bounds: readonly number[], counts: readonly number[]): number {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const rank = quantile * total;
  let below = 0;
  for (let i = 0; i < bounds.length; i++) {
    if (below + counts[i] >= rank && total > 0) {
      const lower = i === 0 ? Math.min(0, bounds[0]) : bounds[i - 1];
      return counts[i] === 0 ? lower : lower + ((bounds[i] - lower) * (rank - below)) / counts[i];
    }
    below += counts[i];
  }
  return total > 0 ? bounds[bounds.length - 1] : Number.NaN;
}

function resourceLabels(attributes: readonly OtlpKeyValue[]): Pairs {
  return attributes.flatMap(({ key, value }): Pairs => {
    const label = typeof key === 'string' && Object.hasOwn(RESOURCE_LABELS, key) ? RESOURCE_LABELS[key] : undefined;
    return label === undefined ? [] : [[label, textOf(value)]];
  });
}

/** An attribute of the point counts more than one of the resource. */
function labelsOf(resource: Pairs, attributes: readonly OtlpKeyValue[], quantile: number | undefined): SeriesLabels {
  const own = attributes.map(({ key = '', value }): readonly [string, string] => [String(key), textOf(value)]);
  if (quantile !== undefined) own.push(['quantile', String(quantile)]);
  const named = new Set(own.map(([label]) => label));
  return sortedLabels([...resource.filter(([label]) => !named.has(label)), ...own]);
}

function textOf(value: OtlpKeyValue['value']): string {
  const { stringValue, boolValue, intValue, doubleValue } = value ?? {};
  const found = stringValue ?? boolValue ?? doubleValue ?? (intValue === undefined ? '' : numberOf(intValue));
  return String(found);
}

/** JSON may have the name in place of the number. */
function isDelta(temporality: number | string | undefined): boolean {
  return temporality === DELTA || temporality === 'AGGREGATION_TEMPORALITY_DELTA';
}

function numberOf(raw: Int64): number {
  return typeof raw === 'object' && raw !== null ? raw.toNumber() : Number(raw);
}

/** What JSON has in place of a list is refused, since nothing in it could be read. */
function listOf<T>(list: readonly T[] | null | undefined): readonly T[] {
  if (list === null || list === undefined) return [];
  if (!Array.isArray(list)) throw new TypeError('a list was expected');
  return list;
}
