import type { DeadLetter, DeadLetterRecord } from '../records/dead-letter.ts';

/**
 * Most bytes of key and value together that a dead letter contains. In base64 and with the other fields it stays below
 * a broker's default limit of 1 MiB. Longer ones are cut at the end and marked `truncated`. The whole record is in the
 * input topic.
 */
export const DEAD_LETTER_BYTES_MAX = 700_000;

/** A record of the dead-letter topic: always JSON, with key and value in base64. */
export function encodeDeadLetter(letter: DeadLetter): Buffer {
  const { reason, detail, series, detector, input, atMs } = letter;
  const key = letter.key?.subarray(0, DEAD_LETTER_BYTES_MAX) ?? null;
  const value = letter.value?.subarray(0, DEAD_LETTER_BYTES_MAX - (key?.length ?? 0)) ?? null;
  const truncated = key?.length !== letter.key?.length || value?.length !== letter.value?.length;
  const record: DeadLetterRecord = {
    reason,
    detail,
    series,
    detector,
    input,
    atMs,
    key: key === null ? null : key.toString('base64'),
    value: value === null ? null : value.toString('base64'),
    truncated,
  };
  return Buffer.from(JSON.stringify(record));
}

/** With the reason as a header a consumer can filter without parsing the record. */
export function deadLetterHeaders({ reason }: DeadLetter): [name: string, value: Buffer][] {
  return [['reason', Buffer.from(reason)]];
}
