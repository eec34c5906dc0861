import type { BucketsFrom } from './histogram-quantile.ts';
import type { OtlpMetric } from './otlp-metric.ts';
import { PointFields, readPlaced } from './otlp-point-fields.ts';
import { fixed64Field, lengthField, type ProtobufReader, varintField } from './protobuf-reader.ts';

/** Buckets or quantiles of one point. A request with more is unreadable. */
export const BUCKETS_MAX = 10_000;

export function readHistogram(reader: ProtobufReader, metric: OtlpMetric, ofInterval: boolean): void {
  const point = new PointFields(reader, 9);
  let [count, low, sum] = [0, 0, Number.NaN];
  const [bounds, counts]: [number[], number[]] = [[], []];
  readPlaced(reader, point, (tag) => {
    if (tag === fixed64Field(4)) [count, low] = [reader.fixed64(), reader.low];
    else if (tag === fixed64Field(5)) sum = reader.double();
    else if (tag === lengthField(6) || tag === fixed64Field(6))
      readRepeated(reader, tag, counts, () => reader.fixed64());
    else if (tag === lengthField(7) || tag === fixed64Field(7))
      readRepeated(reader, tag, bounds, () => reader.double());
    else if (tag === varintField(10)) point.flags = reader.varint();
    else return false;
    return true;
  });
  metric.histogram(
    point,
    { count: { value: count, low }, sum, explicit: { bounds, counts }, exponential: null },
    ofInterval,
  );
}

export function readExponential(reader: ProtobufReader, metric: OtlpMetric, ofInterval: boolean): void {
  const point = new PointFields(reader, 1);
  let [count, low, sum, scale, zeroCount] = [0, 0, Number.NaN, 0, 0];
  let [positive, negative]: [BucketsFrom, BucketsFrom] = [NO_BUCKETS, NO_BUCKETS];
  readPlaced(reader, point, (tag) => {
    if (tag === fixed64Field(4)) [count, low] = [reader.fixed64(), reader.low];
    else if (tag === fixed64Field(5)) sum = reader.double();
    else if (tag === varintField(6)) scale = zigzag(reader.varint());
    else if (tag === fixed64Field(7)) zeroCount = reader.fixed64();
    else if (tag === lengthField(8)) positive = readBuckets(reader);
    else if (tag === lengthField(9)) negative = readBuckets(reader);
    else if (tag === varintField(10)) point.flags = reader.varint();
    else return false;
    return true;
  });
  const exponential = { scale, zeroCount, positive, negative };
  metric.histogram(point, { count: { value: count, low }, sum, explicit: null, exponential }, ofInterval);
}

const NO_BUCKETS: BucketsFrom = { offset: 0, counts: [] };

function readBuckets(reader: ProtobufReader): BucketsFrom {
  let offset = 0;
  const counts: number[] = [];
  reader.fields(reader.end(), (tag) => {
    if (tag === varintField(1)) offset = zigzag(reader.varint());
    else if (tag === lengthField(2) || tag === varintField(2)) readRepeated(reader, tag, counts, () => reader.varint());
    else return false;
    return true;
  });
  return { offset, counts };
}

export function readSummary(reader: ProtobufReader, metric: OtlpMetric): void {
  const point = new PointFields(reader, 7);
  let [count, low, sum] = [0, 0, 0];
  const quantiles: (readonly [quantile: number, value: number])[] = [];
  readPlaced(reader, point, (tag) => {
    if (tag === fixed64Field(4)) [count, low] = [reader.fixed64(), reader.low];
    else if (tag === fixed64Field(5)) sum = reader.double();
    else if (tag === lengthField(6)) limited(quantiles.push(readQuantile(reader)));
    else if (tag === varintField(8)) point.flags = reader.varint();
    else return false;
    return true;
  });
  metric.summary(point, { value: count, low }, sum);
  for (const [quantile, value] of quantiles) metric.summaryQuantile(point, quantile, value);
}

function readQuantile(reader: ProtobufReader): readonly [number, number] {
  let [quantile, value] = [0, 0];
  reader.fields(reader.end(), (tag) => {
    if (tag === fixed64Field(1)) quantile = reader.double();
    else if (tag === fixed64Field(2)) value = reader.double();
    else return false;
    return true;
  });
  return [quantile, value];
}

export const zigzag = (value: number) => (value % 2 === 0 ? value / 2 : -(value + 1) / 2);

/** Packed, or one of them. */
export function readRepeated(reader: ProtobufReader, tag: number, into: number[], read: () => number): void {
  const isPacked = (tag & 7) === 2;
  const end = isPacked ? reader.end() : reader.at + 1;
  while (reader.at < end) limited(into.push(read()));
  if (isPacked) reader.ended(end);
}

export function limited(length: number): void {
  if (length > BUCKETS_MAX) throw new RangeError(`a point has more than ${BUCKETS_MAX} buckets or quantiles`);
}
