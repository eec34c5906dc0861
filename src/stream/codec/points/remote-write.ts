import protobuf from 'protobufjs';
import { reasonOf } from '../quoted.ts';
import { PointsBySeries, type PointsOfRecord, sortedLabels } from './series-points.ts';

const { Reader } = protobuf;

/** Tags (number of the field << 3 | wire type) of what is read; other fields are passed over. */
const [TIME_SERIES, LABEL, SAMPLE, HISTOGRAM] = [10, 10, 18, 34];
const [LABEL_NAME, LABEL_VALUE, SAMPLE_VALUE, SAMPLE_TIMESTAMP] = [10, 18, 9, 16];

const NAME_LABEL = '__name__';

/**
 * Decodes a WriteRequest of Prometheus remote write 1.0, not compressed any more. Classic histograms are series of
 * their own there: `_count`, `_sum` and `_bucket`. Native histograms are refused by series.
 */
export function decodeRemoteWrite(bytes: Uint8Array): PointsOfRecord {
  const points = new PointsBySeries();
  try {
    const reader = Reader.create(bytes);
    readFields(reader, reader.len, (tag) => {
      if (tag !== TIME_SERIES) return false;
      readTimeSeries(reader, points);
      return true;
    });
  } catch (error) {
    return { kind: 'unreadable', detail: `not a WriteRequest of remote write 1.0: ${reasonOf(error)}` };
  }
  return points.decoded();
}

function readTimeSeries(reader: protobuf.Reader, points: PointsBySeries): void {
  let name = '';
  let histograms = 0;
  const labels: [string, string][] = [];
  const [timestampsMs, values]: [number[], number[]] = [[], []];
  readFields(reader, endOf(reader), (tag) => {
    if (tag === LABEL) {
      const [label, value] = readLabel(reader);
      if (label === NAME_LABEL) name = value;
      else labels.push([label, value]);
    } else if (tag === SAMPLE) readSample(reader, timestampsMs, values);
    else if (tag === HISTOGRAM) histograms++;
    return tag === LABEL || tag === SAMPLE;
  });
  const series = points.open(name, sortedLabels(labels));
  if (series === null) return;
  if (histograms > 0) points.refuse(series.id, 'native histograms are not read: send classic ones');
  for (let i = 0; i < values.length; i++) points.add(series, timestampsMs[i], values[i]);
}

/** A staleness marker is a NaN, and so a missing value. */
function readSample(reader: protobuf.Reader, timestampsMs: number[], values: number[]): void {
  let [timestampMs, value] = [0, 0];
  readFields(reader, endOf(reader), (tag) => {
    if (tag === SAMPLE_VALUE) value = reader.double();
    else if (tag === SAMPLE_TIMESTAMP) timestampMs = Number(reader.int64());
    else return false;
    return true;
  });
  timestampsMs.push(timestampMs);
  values.push(value);
}

function readLabel(reader: protobuf.Reader): [string, string] {
  let [name, value] = ['', ''];
  readFields(reader, endOf(reader), (tag) => {
    if (tag === LABEL_NAME) name = reader.string();
    else if (tag === LABEL_VALUE) value = reader.string();
    else return false;
    return true;
  });
  return [name, value];
}

/** Reads the fields up to `end`. `read` returns whether it has read the field of a tag; another one is passed over. */
function readFields(reader: protobuf.Reader, end: number, read: (tag: number) => boolean): void {
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (!read(tag)) reader.skipType(tag & 7);
  }
  if (reader.pos !== end) throw new RangeError('a field is longer than its message');
}

/** The end of a message, by the length that precedes it. */
function endOf(reader: protobuf.Reader): number {
  const length = reader.uint32();
  const end = reader.pos + length;
  if (end > reader.len) throw new RangeError('a message is cut off');
  return end;
}
