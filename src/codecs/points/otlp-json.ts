import type { Attributes } from '../../records/series/resource-labels.ts';
import { parseExactly } from '../observations/lenient-json.ts';
import { lowOf } from '../observations/read-extras.ts';
import {
  ATTRIBUTES_MAX,
  DELTA,
  OtlpMetric,
  type OtlpNumber,
  type OtlpPoint,
  type OtlpReading,
  sourceLabels,
} from './otlp-metric.ts';
import { anyValueText, type JsonValue } from './otlp-point-fields.ts';

/** A 64-bit integer is text in JSON. */
type Int64 = number | bigint | string;

interface KeyValue {
  readonly key?: string;
  readonly value?: JsonValue | null;
}

interface Point {
  readonly startTimeUnixNano?: Int64;
  readonly timeUnixNano?: Int64;
  readonly attributes?: readonly KeyValue[];
  readonly flags?: number;
  readonly asDouble?: number | string;
  readonly asInt?: Int64;
  readonly count?: Int64;
  readonly sum?: number | null;
  readonly bucketCounts?: readonly Int64[];
  readonly explicitBounds?: readonly number[];
  readonly scale?: number;
  readonly zeroCount?: Int64;
  readonly positive?: Buckets | null;
  readonly negative?: Buckets | null;
  readonly quantileValues?: readonly { readonly quantile?: number; readonly value?: number }[];
}

interface Buckets {
  readonly offset?: number;
  readonly bucketCounts?: readonly Int64[];
}

interface Points {
  readonly dataPoints?: readonly Point[];
  readonly aggregationTemporality?: number | string;
}

type WrittenMetric = Readonly<Partial<Record<(typeof KINDS)[number], Points>>> & { readonly name?: string };

interface Request {
  readonly resourceMetrics?: readonly {
    readonly resource?: { readonly attributes?: readonly KeyValue[] } | null;
    readonly scopeMetrics?: readonly {
      readonly scope?: { readonly name?: string; readonly attributes?: readonly KeyValue[] } | null;
      readonly metrics?: readonly WrittenMetric[];
    }[];
  }[];
}

/** Names as opentelemetry-proto v1 publishes them. Throws where it is something else. */
export function readOtlpJson(bytes: Uint8Array, reading: OtlpReading): void {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  const request = parseExactly(text) as Request | null;
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    throw new TypeError('an object was expected');
  }
  requireNamed(request, 'resourceMetrics', []);
  for (const resourceMetrics of listOf(request.resourceMetrics)) {
    const { resource, scopeMetrics } = resourceMetrics;
    requireNamed(resourceMetrics, 'scopeMetrics', ['resource', 'schemaUrl']);
    const labels = reading.resourceLabels(attributesOf(listOf(resource?.attributes)));
    for (const scopeMetric of listOf(scopeMetrics)) {
      const { scope, metrics } = scopeMetric;
      requireNamed(scopeMetric, 'metrics', ['scope', 'schemaUrl']);
      const attributes = attributesOf(listOf(scope?.attributes));
      const source = sourceLabels(labels, { name: String(scope?.name ?? ''), attributes });
      for (const metric of listOf(metrics)) readMetric(metric, reading, source);
    }
  }
}

/** Refuses a body that has its metrics under another name, which would be passed over. Some senders write nulls. */
function requireNamed(place: object, name: string, others: readonly string[]): void {
  const found = Object.entries(place).flatMap(([key, value]) => (value === null ? [] : [key]));
  const other = found.includes(name) ? undefined : found.find((key) => !others.includes(key));
  if (other !== undefined) throw new TypeError(`${other} is no name of OTLP/JSON: ${name} was expected`);
}

function readMetric(written: WrittenMetric, reading: OtlpReading, source: Attributes): void {
  const kinds = KINDS.flatMap((kind) => written[kind] ?? []);
  for (const points of kinds) requireNamed(points, 'dataPoints', ['aggregationTemporality', 'isMonotonic']);
  if (kinds.length === 0) requireNamed(written, KINDS.join(', '), ['name', 'description', 'unit', 'metadata']);
  const name = typeof written.name === 'string' ? written.name : '';
  const metric = new OtlpMetric(reading, { encoding: 'json', name, source });
  const { gauge, sum, histogram, exponentialHistogram, summary } = written;
  reading.points.pass();
  for (const point of listOf(gauge?.dataPoints)) metric.gauge(placed(point), numberOf(point));
  for (const point of listOf(sum?.dataPoints)) {
    metric.sum(placed(point), numberOf(point), isDelta(sum?.aggregationTemporality));
  }
  for (const points of [histogram, exponentialHistogram]) {
    for (const point of listOf(points?.dataPoints)) {
      const buckets = bucketsOf(point, points === exponentialHistogram);
      metric.histogram(placed(point), buckets, isDelta(points?.aggregationTemporality));
    }
  }
  for (const point of listOf(summary?.dataPoints)) {
    const at = placed(point);
    metric.summary(at, integerOf(point.count ?? 0), Number(point.sum ?? 0));
    for (const { quantile = 0, value = 0 } of listOf(point.quantileValues)) {
      metric.summaryQuantile(at, Number(quantile), Number(value));
    }
  }
}

const KINDS = ['gauge', 'sum', 'histogram', 'exponentialHistogram', 'summary'] as const;

/** Fields of a point without a value. */
const POINT_NAMES = ['startTimeUnixNano', 'timeUnixNano', 'attributes', 'flags', 'exemplars'];

function numberOf(point: Point): OtlpNumber {
  const { asDouble, asInt } = point;
  if ((asDouble ?? asInt ?? null) === null) requireNamed(point, 'asDouble, asInt', POINT_NAMES);
  return (asDouble ?? null) === null ? integerOf(asInt ?? Number.NaN) : { value: Number(asDouble), low: 0 };
}

function integerOf(raw: Int64): OtlpNumber {
  const value = Number(raw);
  return { value, low: Number.isSafeInteger(value) ? 0 : lowOf(raw) };
}

function bucketsOf(point: Point, isExponential: boolean): Parameters<OtlpMetric['histogram']>[1] {
  const { count = 0, sum, bucketCounts, explicitBounds, scale, zeroCount = 0, positive, negative } = point;
  const fromOf = (buckets?: Buckets | null) => {
    return { offset: Number(buckets?.offset ?? 0), counts: listOf(buckets?.bucketCounts).map(Number) };
  };
  return {
    count: integerOf(count),
    sum: Number(sum ?? Number.NaN),
    explicit: { bounds: listOf(explicitBounds).map(Number), counts: listOf(bucketCounts).map(Number) },
    exponential: isExponential
      ? {
          scale: Number(scale ?? 0),
          zeroCount: Number(zeroCount),
          positive: fromOf(positive),
          negative: fromOf(negative),
        }
      : null,
  };
}

function placed(point: Point): OtlpPoint {
  const { startTimeUnixNano = 0, timeUnixNano = 0, flags = 0 } = point;
  const attributes = attributesOf(listOf(point.attributes));
  let attributesKey = '';
  for (const [key, value] of attributes) attributesKey += `${key.length}:${key}${value.length}:${value}`;
  const [startUnixNano, timeNano] = [Number(startTimeUnixNano), Number(timeUnixNano)];
  return { attributesKey, attributes: () => attributes, startUnixNano, timeUnixNano: timeNano, flags: Number(flags) };
}

/** Beyond ATTRIBUTES_MAX they are not read. */
function attributesOf(list: readonly KeyValue[]): Attributes {
  return list.slice(0, ATTRIBUTES_MAX).map(({ key = '', value }) => [String(key), anyValueText(value ?? {})]);
}

/** JSON may have the name instead of the number. */
function isDelta(temporality: number | string | undefined): boolean {
  return temporality === DELTA || temporality === 'AGGREGATION_TEMPORALITY_DELTA';
}

/** Anything but a list is refused, because nothing in it could be read. */
function listOf<T>(list: readonly T[] | null | undefined): readonly T[] {
  if (list === null || list === undefined) return [];
  if (!Array.isArray(list)) throw new TypeError('a list was expected');
  return list;
}
