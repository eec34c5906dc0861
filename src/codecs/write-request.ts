import protobuf from 'protobufjs';
import type { SeriesLabels } from '../records/series/series-id.ts';

/** Samples of one series, by their times. */
export interface WrittenSeries {
  /** Sorted by name, `__name__` among them. */
  readonly labels: SeriesLabels;
  /** Milliseconds since the epoch, and values. */
  readonly samples: readonly (readonly [timestampMs: number, value: number])[];
}

/** Encodes a WriteRequest of remote write 1.0, not compressed. */
export function encodeWriteRequest(series: readonly WrittenSeries[]): Buffer {
  const writer = protobuf.Writer.create();
  for (const { labels, samples } of series) {
    writer.uint32(10).fork();
    for (const [name, value] of labels)
      writer.uint32(10).fork().uint32(10).string(name).uint32(18).string(value).ldelim();
    for (const [timestampMs, value] of samples) {
      writer.uint32(18).fork().uint32(9).double(value).uint32(16).int64(timestampMs).ldelim();
    }
    writer.ldelim();
  }
  return Buffer.from(writer.finish());
}

/** `METRIC_TYPE_GAUGE` of the metadata of remote write 2.0. */
const GAUGE = 2;

/**
 * Encodes an `io.prometheus.write.v2.Request` of gauges, not compressed: names and values of labels are symbols, which
 * series refer to by index. The first symbol is empty (Prometheus remote write specification 2.0).
 */
export function encodeWriteRequest2(series: readonly WrittenSeries[]): Buffer {
  const symbols = new Map([['', 0]]);
  const refOf = (symbol: string) => {
    const ref = symbols.get(symbol) ?? symbols.size;
    symbols.set(symbol, ref);
    return ref;
  };
  const writer = protobuf.Writer.create();
  for (const { labels, samples } of series) {
    writer.uint32(42).fork();
    writer.uint32(10).fork();
    for (const [name, value] of labels) writer.uint32(refOf(name)).uint32(refOf(value));
    writer.ldelim();
    for (const [timestampMs, value] of samples) {
      writer.uint32(18).fork().uint32(9).double(value).uint32(16).int64(timestampMs).ldelim();
    }
    writer.uint32(42).fork().uint32(8).int32(GAUGE).ldelim();
    writer.ldelim();
  }
  const table = protobuf.Writer.create();
  for (const symbol of symbols.keys()) table.uint32(34).string(symbol);
  return Buffer.concat([table.finish(), writer.finish()]);
}
