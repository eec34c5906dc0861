import type { Attributes } from '../../records/series/resource-labels.ts';
import { readExponential, readHistogram, readSummary } from './otlp-distributions.ts';
import { DELTA, OtlpMetric, type OtlpReading, sourceLabels } from './otlp-metric.ts';
import { PointFields, readAttributes } from './otlp-point-fields.ts';
import { fixed64Field, lengthField, ProtobufReader, varintField } from './protobuf-reader.ts';

/** Numbers of fields and their wire types as opentelemetry-proto v1 publishes them. Throws on damaged bytes. */
export function readOtlpProtobuf(bytes: Uint8Array, reading: OtlpReading): void {
  const reader = new ProtobufReader(bytes);
  reader.fields(bytes.length, (tag) => {
    if (tag !== lengthField(1)) return false;
    readResourceMetrics(reader, reading);
    return true;
  });
}

/** The resource may follow its metrics. */
function readResourceMetrics(reader: ProtobufReader, reading: OtlpReading): void {
  const end = reader.end();
  const begin = reader.at;
  let resource: Attributes = [];
  reading.points.pass();
  reader.fields(end, (tag) => {
    if (tag !== lengthField(1)) return false;
    const resourceEnd = reader.end();
    const attributes = readAttributes(reader, { from: reader.at, to: resourceEnd, tag: lengthField(1) });
    resource = reading.resourceLabels(attributes);
    return true;
  });
  reader.at = begin;
  reader.fields(end, (tag) => {
    if (tag !== lengthField(2)) return false;
    reading.points.pass();
    readScopeMetrics(reader, reading, resource);
    return true;
  });
}

/** The scope may follow its metrics. */
function readScopeMetrics(reader: ProtobufReader, reading: OtlpReading, resource: Attributes): void {
  const end = reader.end();
  const begin = reader.at;
  let source = sourceLabels(resource, { name: '', attributes: [] });
  reader.fields(end, (tag) => {
    if (tag !== lengthField(1)) return false;
    source = sourceLabels(resource, readScope(reader));
    return true;
  });
  reader.at = begin;
  reader.fields(end, (tag) => {
    if (tag !== lengthField(2)) return false;
    readMetric(reader, reading, source);
    return true;
  });
}

function readScope(reader: ProtobufReader): Parameters<typeof sourceLabels>[1] {
  const end = reader.end();
  const from = reader.at;
  let name = '';
  reader.fields(end, (tag) => {
    if (tag !== lengthField(1)) return false;
    name = reader.string();
    return true;
  });
  return { name, attributes: readAttributes(reader, { from, to: end, tag: lengthField(3) }) };
}

const [GAUGE, SUM, HISTOGRAM, EXPONENTIAL, SUMMARY] = [5, 7, 9, 10, 11].map(lengthField);

/** The name may follow the points, and the temporality does. */
function readMetric(reader: ProtobufReader, reading: OtlpReading, source: Attributes): void {
  const end = reader.end();
  const begin = reader.at;
  let name = '';
  reader.fields(end, (tag) => {
    if (tag !== lengthField(1)) return false;
    name = reader.string();
    return true;
  });
  reading.points.pass();
  const metric = new OtlpMetric(reading, { encoding: 'protobuf', name, source });
  reader.at = begin;
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

function temporalityOf(reader: ProtobufReader): number {
  const begin = reader.at;
  let temporality = 0;
  reader.fields(reader.end(), (tag) => {
    if (tag !== varintField(2)) return false;
    temporality = reader.varint();
    return true;
  });
  reader.at = begin;
  return temporality;
}

function readPoints(reader: ProtobufReader, read: () => void): void {
  reader.fields(reader.end(), (tag) => {
    if (tag !== lengthField(1)) return false;
    read();
    return true;
  });
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
  if (ofInterval === null) metric.gauge(point, value);
  else metric.sum(point, { value, low }, ofInterval);
}

const [AS_DOUBLE, AS_INT, NUMBER_FLAGS] = [fixed64Field(4), fixed64Field(6), varintField(8)];
