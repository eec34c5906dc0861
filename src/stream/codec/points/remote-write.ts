import { NAME_LABEL, sortedLabels } from '../../../series/series-id.ts';
import { SERIES_LABELS_MAX } from '../mapping.ts';
import { reasonOf } from '../quoted.ts';
import { ProtobufReader } from './protobuf-reader.ts';
import { namedSeries, type SeriesName, SeriesNames } from './series-names.ts';
import { PointsBySeries, type PointsOfRecord } from './series-points.ts';

/** Tags (number of the field << 3 | wire type) of what is read; other fields are passed over. */
const [TIME_SERIES, LABEL, SAMPLE, HISTOGRAM] = [10, 10, 18, 34];
const [LABEL_NAME, LABEL_VALUE, SAMPLE_VALUE, SAMPLE_TIMESTAMP] = [10, 18, 9, 16];

/**
 * Decodes a WriteRequest of Prometheus remote write 1.0, not compressed any more. Classic histograms are series of
 * their own there: `_count`, `_sum` and `_bucket`. Native histograms are refused by series.
 */
export function decodeRemoteWrite(bytes: Uint8Array, names: SeriesNames = new SeriesNames()): PointsOfRecord {
  const points = new PointsBySeries();
  const reader = new ProtobufReader(bytes);
  const scope = names.scope('remote-write');
  const nameAt: NameAt = (from, to) => names.find(scope, reader.bytesAt(from, to), () => readName(reader, from, to));
  try {
    reader.fields(bytes.length, (tag) => {
      if (tag !== TIME_SERIES) return false;
      readTimeSeries(reader, points, nameAt);
      return true;
    });
  } catch (error) {
    return { kind: 'unreadable', detail: `not a WriteRequest of remote write 1.0: ${reasonOf(error)}` };
  }
  return points.decoded();
}

/** The series whose labels lie at these bytes. */
type NameAt = (from: number, to: number) => SeriesName;

/** Labels may stand behind samples, so that the fields are passed over once before they are read. */
function readTimeSeries(reader: ProtobufReader, points: PointsBySeries, nameAt: NameAt): void {
  const end = reader.end();
  const begin = reader.at;
  let [from, to, histograms] = [-1, begin, 0];
  let samplesAt = end;
  while (reader.at < end) {
    const start = reader.at;
    const tag = reader.varint();
    reader.skip(tag);
    if (tag === LABEL) {
      if (from === -1) from = start;
      to = reader.at;
    } else if (tag === SAMPLE) samplesAt = Math.min(samplesAt, start);
    else if (tag === HISTOGRAM) histograms++;
  }
  reader.ended(end);
  const series = nameAt(from === -1 ? begin : from, to);
  reader.at = samplesAt;
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === SAMPLE) readSample(reader, points, series);
    else reader.skip(tag);
  }
  points.pass();
  if (histograms > 0) points.refuse(`${series.id}: native histograms are not read: send classic ones`);
}

/** A staleness marker is a NaN, and so a missing value. */
function readSample(reader: ProtobufReader, points: PointsBySeries, series: SeriesName): void {
  const end = reader.end();
  let [timestampMs, value] = [0, 0];
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === SAMPLE_VALUE) value = reader.double();
    else if (tag === SAMPLE_TIMESTAMP) timestampMs = reader.int64();
    else reader.skip(tag);
  }
  reader.ended(end);
  points.add(series, timestampMs, value);
}

/** More labels than a series may have are not read: one is enough to refuse it. */
function readName(reader: ProtobufReader, from: number, to: number): SeriesName {
  let name = '';
  const labels: [string, string][] = [];
  reader.at = from;
  while (reader.at < to && labels.length <= SERIES_LABELS_MAX) {
    const tag = reader.varint();
    if (tag !== LABEL) {
      reader.skip(tag);
      continue;
    }
    const [label, value] = readLabel(reader);
    if (label === NAME_LABEL && name === '') name = value;
    else if (value !== '') labels.push([label, value]);
  }
  return namedSeries(name, sortedLabels(labels));
}

function readLabel(reader: ProtobufReader): [string, string] {
  let [name, value] = ['', ''];
  reader.fields(reader.end(), (tag) => {
    if (tag === LABEL_NAME) name = reader.string();
    else if (tag === LABEL_VALUE) value = reader.string();
    else return false;
    return true;
  });
  return [name, value];
}
