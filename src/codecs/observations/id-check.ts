import type { RecordMapping } from '../../config/config.ts';
import type { DeadLetterReason } from '../../records/dead-letter.ts';
import { seriesOfId } from '../../records/series/series-id.ts';
import { quoted } from '../formats/quoted.ts';
import type { Undecodable } from './decoded.ts';

/** Labels of a series, the name of the metric and those that are dropped not counted. */
export const SERIES_LABELS_MAX = 64;

/** Longest id of a series or group, in bytes of UTF-8. */
export const SERIES_ID_BYTES_MAX = 1_024;

/** Longest id as it is written, if `input` makes another one of it. */
const WRITTEN_ID_BYTES_MAX = 16 * 1024;

export const DROP_REMEDY = 'leave labels out by input.drop_labels, or at the sender';

/** Replaces invalid bytes in a decoded string. With it two different ids could become one. */
const REPLACEMENT = '\uFFFD';

/** The limit of an id is that of what remains of it. */
export function writtenBytesMax({ dropLabels = [], idTemplate = null, replicaLabel = null }: RecordMapping): number {
  return dropLabels.length === 0 && idTemplate === null && replicaLabel === null
    ? SERIES_ID_BYTES_MAX
    : WRITTEN_ID_BYTES_MAX;
}

/** Returns an id as it is, or why it is none. */
export function idCheck(mapping: RecordMapping): (series: string) => string | Undecodable {
  const bytesMax = writtenBytesMax(mapping);
  return (series) =>
    isId(series, bytesMax)
      ? series
      : undecodable('series-unreadable', `the series id ${whyNoId(series, bytesMax)}`, null);
}

/**
 * Ids become record keys. Characters that UTF-8 cannot encode could merge two series, and a key of NULs disturbs Kafka
 * consumers.
 */
export function isId(raw: unknown, bytesMax = SERIES_ID_BYTES_MAX): raw is string | number | bigint {
  if (typeof raw === 'string') {
    if (raw.length === 0 || raw.length > bytesMax) return false;
    if (raw.length * 3 > bytesMax && Buffer.byteLength(raw) > bytesMax) return false;
    return raw.isWellFormed() && !raw.includes('\0') && !raw.includes(REPLACEMENT);
  }
  // Beyond 2^53 neighbouring integers are the same number.
  if (typeof raw === 'number') return Number.isSafeInteger(raw) || (Number.isFinite(raw) && !Number.isInteger(raw));
  return typeof raw === 'bigint';
}

export function whyNoId(raw: unknown, bytesMax = SERIES_ID_BYTES_MAX): string {
  if (raw === undefined || raw === null) return 'is missing';
  if (raw === '') return 'is empty';
  if (typeof raw === 'number') return `is ${raw}: a number that large must be written as a string`;
  if (typeof raw !== 'string') return `is ${quoted(raw)}, not a string or a number`;
  const bytes = Buffer.byteLength(raw);
  if (bytes > bytesMax) return `has ${bytes} bytes, more than ${bytesMax}${longestLabel(raw)}`;
  return raw.includes('\0') ? 'holds a NUL character' : 'is not valid Unicode';
}

/** The remedy for an id with labels that is too long; empty for another one. */
function longestLabel(id: string): string {
  const [longest] = seriesOfId(id).labels.toSorted(([, a], [, b]) => b.length - a.length);
  if (longest === undefined) return '';
  return `: ${DROP_REMEDY} (the longest is ${quoted(longest[0])}, ${Buffer.byteLength(longest[1])} bytes)`;
}

export function undecodable(reason: DeadLetterReason, detail: string, series: string | null): Undecodable {
  return { kind: 'dead-letter', reason, detail, series };
}
