import protobuf from 'protobufjs';
import type { SeriesLabels } from '../../../series/series-id.ts';

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
