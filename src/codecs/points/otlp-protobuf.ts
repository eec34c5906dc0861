import type { Attributes } from '../../records/series/resource-labels.ts';
import { readExponential, readHistogram, readSummary } from './otlp-distributions.ts';
import { DELTA, OtlpMetric, type OtlpReading, sourceLabels } from './otlp-metric.ts';
import { PointFields, readAttributes } from './otlp-point-fields.ts';
import { fixed64Field, lengthField, ProtobufReader, varintField } from './protobuf-reader.ts';

/** Numbers of fields and their wire types as opentelemetry-proto v1 publishes them. Throws on damaged bytes. */
export function readOtlpProtobuf(bytes: Uint8Array, reading: OtlpReading): void {
  const reader = new ProtobufReader(bytes);
  reader.each(lengthField(1), bytes.length, () => readResourceMetrics(reader, reading));
}

function readResourceMetrics(reader: ProtobufReader, reading: OtlpReading): void {
  const end = reader.end();
  let resource: Attributes = [];
  reading.points.pass();
  reader.ahead(lengthField(1), end, () => {
    const resourceEnd = reader.end();
    resource = reading.resourceLabels(
      readAttributes(reader, { from: reader.at, to: resourceEnd, tag: lengthField(1) }),
    );
  });
  reader.each(lengthField(2), end, () => {
    reading.points.pass();
    readScopeMetrics(reader, reading, resource);
  });
}

function readScopeMetrics(reader: ProtobufReader, reading: OtlpReading, resource: Attributes): void {
  const end = reader.end();
  let source = sourceLabels(resource, { name: '', attributes: [] });
  reader.ahead(lengthField(1), end, () => {
    source = sourceLabels(resource, readScope(reader));
  });
  reader.each(lengthField(2), end, () => readMetric(reader, reading, source));
}

function readScope(reader: ProtobufReader): Parameters<typeof sourceLabels>[1] {
  const end = reader.end();
  const from = reader.at;
  let name = '';
  reader.each(lengthField(1), end, () => {
    name = reader.string();
  });
  return { name, attributes: readAttributes(reader, { from, to: end, tag: lengthField(3) }) };
}

const [GAUGE, SUM, HISTOGRAM, EXPONENTIAL, SUMMARY] = [5, 7, 9, 10, 11].map(lengthField);

function readMetric(reader: ProtobufReader, reading: OtlpReading, source: Attributes): void {
  const end = reader.end();
  let name = '';
  reader.ahead(lengthField(1), end, () => {
    name = reader.string();
  });
  reading.points.pass();
  const metric = new OtlpMetric(reading, { encoding: 'protobuf', name, source });
  reader.fields(end, (tag) => {
    if (tag === GAUGE) readPoints(reader, () => readNumber(reader, metric, null));
    else if (tag === SUM) {
      const ofInterval = temporalityOf(reader) === DELTA;
      readPoints(reader, () => readNumber(reader, metric, ofInterval));
    } else if (tag === HISTOGRAM || tag === EXPONENTIAL) {
      const read = tag === HISTOGRAM ? readHistogram : readExponential;
      const ofInterval = temporalityOf(reader) === DELTA;
      readPoints(reader, () => read(reader, metric, ofInterval));
    } else if (tag === SUMMARY) readPoints(reader, () => readSummary(reader, metric));
    else return false;
    return true;
  });
}

/** It follows the points. */
function temporalityOf(reader: ProtobufReader): number {
  const { at } = reader;
  let temporality = 0;
  reader.each(varintField(2), reader.end(), () => {
    temporality = reader.varint();
  });
  reader.at = at;
  return temporality;
}

function readPoints(reader: ProtobufReader, read: () => void): void {
  reader.each(lengthField(1), reader.end(), read);
}

/** @param ofInterval null for a gauge */
function readNumber(reader: ProtobufReader, metric: OtlpMetric, ofInterval: boolean | null): void {
  const point = new PointFields(reader, 7);
  const end = reader.end();
  let [value, low] = [Number.NaN, 0];
  while (reader.at < end) {
    const start = reader.at;
    const tag = reader.varint();
    if (tag === AS_DOUBLE) value = reader.double();
    else if (tag === AS_INT) [value, low] = [reader.sfixed64(), reader.low];
    else if (tag === NUMBER_FLAGS) point.flags = reader.varint();
    else if (!point.read(tag, start)) reader.skip(tag);
  }
  reader.ended(end);
  if (ofInterval === null) metric.gauge(point, { value, low });
  else metric.sum(point, { value, low }, ofInterval);
}

const [AS_DOUBLE, AS_INT, NUMBER_FLAGS] = [fixed64Field(4), fixed64Field(6), varintField(8)];
