import type { DeadLetter } from '../record/dead-letter.ts';

/**
 * Most bytes of key and value together that a dead letter repeats: with base64 and the rest it stays below the megabyte a broker takes by
 * default. Longer ones are cut at the end and marked `truncated`; the whole record is at its place in the input.
 */
export const DEAD_LETTER_BYTES_MAX = 700_000;

/** The record of the dead-letter topic: always JSON, key and value in base64. */
export function encodeDeadLetter(letter: DeadLetter): Buffer {
  const { reason, detail, series, detector, input, atMs } = letter;
  const key = letter.key?.subarray(0, DEAD_LETTER_BYTES_MAX) ?? null;
  const value = letter.value?.subarray(0, DEAD_LETTER_BYTES_MAX - (key?.length ?? 0)) ?? null;
  const truncated = key?.length !== letter.key?.length || value?.length !== letter.value?.length;
  const record = {
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

/** Lets a reader choose by reason without parsing the record. */
export function deadLetterHeaders(letter: DeadLetter): Readonly<Record<string, string>> {
  return { reason: letter.reason };
}
