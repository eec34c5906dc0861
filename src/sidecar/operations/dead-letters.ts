import type { DeadLetterRow } from '../../history/history-port.ts';
import type { DeadLetterRecord } from '../../record/dead-letter.ts';
import { HttpProblem } from '../wire/problem.ts';

/** Longer keys and values are cut where they are shown. */
const SHOWN_LENGTH_MAX = 10_000;

export function shownLetter({ partition, offset, record }: DeadLetterRow, redriven: ReadonlySet<string>) {
  const id = `${partition}-${offset}`;
  const { reason, detail, series, detector, input, atMs, key, value, truncated } = JSON.parse(
    record,
  ) as DeadLetterRecord;
  const place = { topic: input.topic, partition: input.partition, offset: input.offset, timestamp: input.timestampMs };
  const shown = { id, reason, detail, at: atMs, series, detector, input: place, truncated };
  return { ...shown, key: textOf(key), value: textOf(value), redriven: redriven.has(id) };
}

function textOf(base64: string | null): string | null {
  return base64 === null ? null : Buffer.from(base64, 'base64').toString().slice(0, SHOWN_LENGTH_MAX);
}

/** The record of a dead letter as it was read. Throws an HttpProblem where the letter does not hold all of it. */
export function letterToRedrive({ record }: DeadLetterRow) {
  const { input, key, value, truncated } = JSON.parse(record) as DeadLetterRecord;
  if (truncated || input.lastOffset !== undefined) {
    throw new HttpProblem(409, 'The dead letter does not hold the whole record, so it cannot be sent again');
  }
  const bytes = (base64: string | null) => (base64 === null ? null : Buffer.from(base64, 'base64'));
  return { topic: input.topic, record: { partition: input.partition, key: bytes(key), value: bytes(value) } };
}
