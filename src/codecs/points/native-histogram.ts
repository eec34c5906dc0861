import type { PointExtras } from '../../records/point-extras.ts';
import { EVENT_TIME_MS_MIN } from '../observations/event-time.ts';
import { type BucketsFrom, explicitQuantile, exponentialQuantile } from './histogram-quantile.ts';
import { BUCKETS_MAX, limited, readRepeated, zigzag } from './otlp-distributions.ts';
import { QUANTILES } from './otlp-metric.ts';
import { fixed64Field, lengthField, type ProtobufReader, varintField } from './protobuf-reader.ts';
import type { SeriesName } from './series-names.ts';
import type { PointsBySeries } from './series-points.ts';

/** The series that a part of a histogram belongs to: a suffix of its name, or a quantile. */
export type NameOfPart = (part: '_count' | '_sum' | number) => SeriesName;

/** ResetHint: what the histogram counts is no running total. */
const GAUGE = 3;
/** The schema whose bounds are in the histogram. */
const CUSTOM_BUCKETS = -53;
/** The sum of a histogram that is stale, as the bytes of a double. */
const STALE = '\x02\0\0\0\0\0\xf0\x7f';

/**
 * Reads a native histogram of remote write 1.0 or 2.0, whose fields are the same, as `NAME_count` and `NAME_sum`. A
 * gauge histogram, as of delta temporality or a `rate()`, also has quantiles. A stale one is a missing value.
 */
export function readNativeHistogram(reader: ProtobufReader, points: PointsBySeries, nameOf: NameOfPart): void {
  const found = readFields(reader);
  const { count, low, sum, isStale, timestampMs, startMs } = found;
  const isGauge = found.hint === GAUGE;
  const start = startMs >= EVENT_TIME_MS_MIN && startMs < timestampMs ? { startMs } : {};
  const counter = (rest: number): PointExtras | undefined => {
    const extras = { ...start, ...(rest !== 0 && { low: rest }) };
    return isGauge || Object.keys(extras).length === 0 ? undefined : extras;
  };
  const quantiles = isGauge && !isStale && count > 0 ? QUANTILES : [];
  points.add(nameOf('_count'), timestampMs, isStale ? Number.NaN : count, counter(low));
  points.add(nameOf('_sum'), timestampMs, sum, counter(0));
  for (const quantile of quantiles) points.add(nameOf(quantile), timestampMs, quantileOf(found, quantile));
  if (nameOf('_count').unusable === null) points.noteHistogram(2 + quantiles.length);
}

type NativeHistogram = ReturnType<typeof readFields>;

function readFields(reader: ProtobufReader) {
  let [count, low, sum, schema, zeroCount, hint, timestampMs, startMs] = [0, 0, 0, 0, 0, 0, 0, 0];
  let isStale = false;
  const [positive, negative] = [new NativeBuckets(), new NativeBuckets()];
  const bounds: number[] = [];
  reader.fields(reader.end(), (tag) => {
    if (tag === varintField(1)) [count, low] = readUint64(reader);
    else if (tag === fixed64Field(2)) count = reader.double();
    else if (tag === fixed64Field(3)) {
      isStale = reader.bytesAt(reader.at, reader.at + 8) === STALE;
      sum = reader.double();
    } else if (tag === varintField(4)) schema = zigzag(reader.varint());
    else if (tag === varintField(6)) zeroCount = reader.varint();
    else if (tag === fixed64Field(7)) zeroCount = reader.double();
    else if (tag === varintField(14)) hint = reader.varint();
    else if (tag === varintField(15)) timestampMs = reader.int64();
    else if (tag === lengthField(16) || tag === fixed64Field(16))
      readRepeated(reader, tag, bounds, () => reader.double());
    else if (tag === varintField(17)) startMs = reader.int64();
    else return negative.read(reader, tag, 8) || positive.read(reader, tag, 11);
    return true;
  });
  return { count, low, sum, isStale, schema, zeroCount, positive, negative, bounds, hint, timestampMs, startMs };
}

/** A uint64: the nearest number and the rest. */
function readUint64(reader: ProtobufReader): [value: number, low: number] {
  const { at } = reader;
  const value = reader.varint();
  if (value <= Number.MAX_SAFE_INTEGER) return [value, 0];
  reader.at = at;
  const exact = BigInt.asUintN(64, reader.bigInt64());
  return [Number(exact), Number(exact - BigInt(Number(exact)))];
}

function quantileOf({ schema, zeroCount, positive, negative, bounds }: NativeHistogram, quantile: number): number {
  if (schema !== CUSTOM_BUCKETS) {
    return exponentialQuantile(quantile, {
      scale: schema,
      zeroCount,
      positive: positive.buckets(),
      negative: negative.buckets(),
    });
  }
  const { at, counts } = positive.buckets();
  const all = new Array<number>(bounds.length + 1).fill(0);
  // Here a bucket has the index of its bound.
  at?.forEach((index, i) => {
    if (index + 1 < all.length) all[index + 1] = counts[i];
  });
  return bounds.length === 0 ? Number.NaN : explicitQuantile(quantile, { bounds, counts: all });
}

/** Spans of buckets, and their counts: differences to the one before of integers, floats as they are. */
class NativeBuckets {
  readonly #spans: (readonly [offset: number, length: number])[] = [];
  readonly #deltas: number[] = [];
  readonly #counts: number[] = [];

  /** @param first the field of the spans, which the differences and the counts follow */
  read(reader: ProtobufReader, tag: number, first: number): boolean {
    const field = tag >> 3;
    if (tag === lengthField(first)) limited(this.#spans.push(readSpan(reader)));
    else if (field === first + 1) readRepeated(reader, tag, this.#deltas, () => zigzag(reader.varint()));
    else if (field === first + 2) readRepeated(reader, tag, this.#counts, () => reader.double());
    else return false;
    return true;
  }

  /** Bucket I of Prometheus ends at base^I, that of OTLP begins there. */
  buckets(): BucketsFrom {
    const [at, counts]: [number[], number[]] = [[], []];
    let [index, total] = [-1, 0];
    for (const [offset, length] of this.#spans) {
      index += offset;
      for (let i = 0; i < Math.min(length, BUCKETS_MAX); i++, index++) {
        const next = at.length;
        total += this.#deltas[next] ?? 0;
        if (next >= Math.max(this.#deltas.length, this.#counts.length)) break;
        at.push(index);
        counts.push(this.#counts[next] ?? total);
      }
    }
    return { offset: 0, counts, at };
  }
}

function readSpan(reader: ProtobufReader): readonly [number, number] {
  let [offset, length] = [0, 0];
  reader.fields(reader.end(), (tag) => {
    if (tag === varintField(1)) offset = zigzag(reader.varint());
    else if (tag === varintField(2)) length = reader.varint();
    else return false;
    return true;
  });
  return [offset, length];
}
