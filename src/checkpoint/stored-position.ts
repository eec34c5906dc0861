import { readStoredJson } from './state-bytes.ts';

/** The two newest event times of a partition; -Infinity before its first records. */
export interface WatermarkState {
  readonly firstMs: number;
  readonly secondMs: number;
}

/** The position of the state of a partition in its input and in event time. It is written with each commit. */
export interface StoredPosition {
  /** The next input offset. */
  readonly nextOffset: number;
  /** The id of the input topic; null where the brokers are too old for topic ids. */
  readonly topicId: string | null;
  /** null if it is not known. */
  readonly watermark: WatermarkState | null;
}

export const POSITION_KEY = Buffer.from('position');

/** JSON, which an operator can read with any Kafka tool. */
export function encodePosition({ nextOffset, topicId, watermark }: StoredPosition): Buffer {
  const times = watermark === null ? null : [watermark.firstMs, watermark.secondMs];
  // JSON has no -Infinity: it becomes null.
  return Buffer.from(JSON.stringify({ next_offset: nextOffset, topic_id: topicId, event_times: times }));
}

interface WrittenPosition {
  readonly next_offset: number;
  readonly topic_id: string | null;
  readonly event_times?: readonly (number | null)[] | null;
}

/** Throws ServiceError `configuration` where the value is damaged. */
export function decodePosition(value: Buffer): StoredPosition {
  const isPosition = ({ next_offset: offset, event_times: times = null }: WrittenPosition) =>
    Number.isSafeInteger(offset) && (times === null || (Array.isArray(times) && times.length === 2));
  const read = readStoredJson<WrittenPosition>('position', value, isPosition);
  const { next_offset: nextOffset, topic_id: topicId, event_times: times = null } = read;
  if (times === null) return { nextOffset, topicId, watermark: null };
  const [firstMs, secondMs] = times.map((time) => time ?? Number.NEGATIVE_INFINITY);
  return { nextOffset, topicId, watermark: { firstMs, secondMs } };
}
