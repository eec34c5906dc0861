import { type LabelledSeries, NAME_LABEL, sortedLabels } from '../../records/series/series-id.ts';
import { reasonOf } from '../formats/quoted.ts';
import { EVENT_TIME_MS_MIN } from '../observations/event-time.ts';
import { type NameOfPart, readNativeHistogram } from './native-histogram.ts';
import { ProtobufReader } from './protobuf-reader.ts';
import { type NamesOfScope, type SeriesName, SeriesNames } from './series-names.ts';
import { PointsBySeries, type PointsOfRecord, RECORD_POINTS_MAX } from './series-points.ts';

/** Tags (number of the field << 3 | wire type) of what is read; other fields are passed over. */
const [TIME_SERIES, METADATA, LABEL, SAMPLE, HISTOGRAM] = [10, 26, 10, 18, 34];
const [LABEL_NAME, LABEL_VALUE, SAMPLE_VALUE, SAMPLE_TIMESTAMP, SAMPLE_START] = [10, 18, 9, 16, 24];
/** The same of remote write 2.0, whose series name their labels by the places of texts in the request. */
const [SYMBOL, TIME_SERIES_2, LABEL_REFS, LABEL_REF, HISTOGRAM_2] = [34, 42, 10, 8, 26];

/** Labels of the series of a 2.0 request, written out: what a request of 1.0 may have. */
const WRITTEN_LABELS_BYTES_MAX = 32 * 1024 * 1024;

/**
 * True if a request is not compressed: one of 1.0 begins with a time series or metadata, one of 2.0 with the empty
 * symbol. Remote write may come without Snappy, and with Snappy that no header names, as Prometheus takes it: only a
 * block of 10 or 26 bytes begins as 1.0, and one of 34 bytes whose first literal is one byte as 2.0.
 */
export function isPlainRequest([first, second]: Uint8Array): boolean {
  return first === undefined || first === TIME_SERIES || first === METADATA || (first === SYMBOL && second === 0);
}

/**
 * Decodes a request of Prometheus remote write, 1.0 or 2.0, not compressed any more; no field has the same number in
 * both. Classic histograms are series: `_count`, `_sum` and `_bucket`.
 */
export function decodeRemoteWrite(bytes: Uint8Array, names: SeriesNames = new SeriesNames()): PointsOfRecord {
  const points = new PointsBySeries();
  const reader = new ProtobufReader(bytes);
  const scopeOf = scopesOfParts(names, 'remote-write');
  const nameAt: NameAt = (from, to, part = '') =>
    names.find(scopeOf(part), reader.bytesAt(from, to), () => partOf(readName(reader, from, to), part));
  let nameOfRefsAt: NameAt | null = null;
  try {
    reader.fields(bytes.length, (tag) => {
      if (tag === TIME_SERIES) readTimeSeries(reader, points, { nameAt, histogram: HISTOGRAM });
      else if (tag === TIME_SERIES_2) {
        nameOfRefsAt ??= namesOfRefs(reader, bytes.length, names);
        readTimeSeries(reader, points, { nameAt: nameOfRefsAt, histogram: HISTOGRAM_2 });
      } else return false;
      return true;
    });
  } catch (error) {
    return { kind: 'unreadable', detail: `not a request of remote write: ${reasonOf(error)}` };
  }
  return points.decoded();
}

type Part = Parameters<NameOfPart>[0] | '';
/** The series whose labels lie at these bytes, or that of a part of its histograms. */
type NameAt = (from: number, to: number, part?: Part) => SeriesName;

function scopesOfParts(names: SeriesNames, version: string): (part: Part) => NamesOfScope {
  const whole = names.scope(version);
  return (part) => (part === '' ? whole : names.scope(`${version}${part}`));
}

function partOf({ name, labels }: LabelledSeries, part: Part): LabelledSeries {
  if (typeof part === 'string') return { name: name === '' ? '' : name + part, labels };
  return { name, labels: sortedLabels([...labels, ['quantile', String(part)]]) };
}

/** Series are remembered by their labels with the lengths before them, since places differ from request to request. */
function namesOfRefs(reader: ProtobufReader, length: number, names: SeriesNames): NameAt {
  const symbols = readSymbols(reader, length);
  const scopeOf = scopesOfParts(names, 'remote-write-2');
  let bytes = 0;
  const symbolAt = (ref: number) => {
    const symbol = symbols[ref];
    if (symbol === undefined) throw new RangeError(`a label is symbol ${ref} of ${symbols.length}`);
    bytes += symbol.length;
    if (bytes > WRITTEN_LABELS_BYTES_MAX) {
      throw new RangeError(`the labels have more than ${WRITTEN_LABELS_BYTES_MAX} bytes: send fewer series at once`);
    }
    return symbol;
  };
  return (from, to, part = '') => {
    let key = '';
    reader.at = from;
    while (reader.at < to) {
      const tag = reader.varint();
      if (tag === LABEL_REFS) for (const end = reader.end(); reader.at < end; ) key += symbolAt(reader.varint());
      else if (tag === LABEL_REF) key += symbolAt(reader.varint());
      else reader.skip(tag);
    }
    reader.ended(to);
    return names.find(scopeOf(part), key, () => partOf(seriesOfSymbols(key), part));
  };
}

/** The texts of a request with their lengths, in any place, as bytes. */
function readSymbols(reader: ProtobufReader, length: number): readonly string[] {
  const { at } = reader;
  const symbols: string[] = [];
  reader.at = 0;
  reader.each(SYMBOL, length, () => {
    const from = reader.at;
    const end = reader.end();
    if (symbols.push(reader.bytesAt(from, end)) > RECORD_POINTS_MAX)
      throw new RangeError(`there are more than ${RECORD_POINTS_MAX} symbols: send fewer series at once`);
    reader.at = end;
  });
  reader.at = at;
  return symbols;
}

function seriesOfSymbols(symbols: string): LabelledSeries {
  const reader = new ProtobufReader(Buffer.from(symbols, 'latin1'));
  const pairs: [string, string][] = [];
  while (reader.at < symbols.length) {
    const label = reader.string();
    if (reader.at === symbols.length) throw new RangeError(`the label ${label} has no value`);
    pairs.push([label, reader.string()]);
  }
  return seriesOfPairs(pairs);
}

/**
 * Labels may follow samples, so the fields are skipped once before they are read.
 * @param histogram the tag of native histograms
 */
function readTimeSeries(
  reader: ProtobufReader,
  points: PointsBySeries,
  { nameAt, histogram }: { readonly nameAt: NameAt; readonly histogram: number },
): void {
  const end = reader.end();
  const begin = reader.at;
  let [from, to] = [-1, begin];
  let pointsAt = end;
  while (reader.at < end) {
    const start = reader.at;
    const tag = reader.varint();
    reader.skip(tag);
    if (tag === LABEL || tag === LABEL_REF) {
      if (from === -1) from = start;
      to = reader.at;
    } else if (tag === SAMPLE || tag === histogram) pointsAt = Math.min(pointsAt, start);
  }
  reader.ended(end);
  const place = from === -1 ? begin : from;
  const series = nameAt(place, to);
  reader.at = pointsAt;
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === SAMPLE) readSample(reader, points, series);
    else if (tag === histogram)
      readNativeHistogram(reader, points, (part) => keepingPlace(reader, () => nameAt(place, to, part)));
    else reader.skip(tag);
  }
  points.pass();
}

function keepingPlace<T>(reader: ProtobufReader, read: () => T): T {
  const { at } = reader;
  const found = read();
  reader.at = at;
  return found;
}

/** A staleness marker is a NaN, and so a missing value. A start that is not before its point is ignored. */
function readSample(reader: ProtobufReader, points: PointsBySeries, series: SeriesName): void {
  const end = reader.end();
  let [timestampMs, value, startMs] = [0, 0, 0];
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === SAMPLE_VALUE) value = reader.double();
    else if (tag === SAMPLE_TIMESTAMP) timestampMs = reader.int64();
    else if (tag === SAMPLE_START) startMs = reader.int64();
    else reader.skip(tag);
  }
  reader.ended(end);
  const isKnown = startMs >= EVENT_TIME_MS_MIN && startMs < timestampMs;
  points.add(series, timestampMs, value, isKnown ? { startMs } : undefined);
}

function readName(reader: ProtobufReader, from: number, to: number): LabelledSeries {
  const pairs: [string, string][] = [];
  reader.at = from;
  while (reader.at < to) {
    const tag = reader.varint();
    if (tag === LABEL) pairs.push(readLabel(reader));
    else reader.skip(tag);
  }
  return seriesOfPairs(pairs);
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

/** A second name of the metric is a label that a series cannot have. */
function seriesOfPairs(pairs: readonly (readonly [string, string])[]): LabelledSeries {
  const at = pairs.findIndex(([label, value]) => label === NAME_LABEL && value !== '');
  return { name: pairs[at]?.[1] ?? '', labels: sortedLabels(at === -1 ? pairs : pairs.toSpliced(at, 1)) };
}
