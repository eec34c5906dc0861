/** How far the state of a partition reaches in its input. It is written with each commit. */
export interface StoredPosition {
  /** The next input offset. */
  readonly nextOffset: number;
  /** The id of the input topic; null where the brokers are too old for topic ids. */
  readonly topicId: string | null;
}

export const POSITION_KEY = Buffer.from('position');

/** JSON, which an operator can read with any Kafka tool. */
export function encodePosition({ nextOffset, topicId }: StoredPosition): Buffer {
  return Buffer.from(JSON.stringify({ next_offset: nextOffset, topic_id: topicId }));
}

export function decodePosition(value: Buffer): StoredPosition {
  const { next_offset: nextOffset, topic_id: topicId } = JSON.parse(value.toString()) as {
    readonly next_offset: number;
    readonly topic_id: string | null;
  };
  return { nextOffset, topicId };
}
