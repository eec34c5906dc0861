import type { RecordMapping } from '../../config/config.ts';
import type { DeadLetterReason } from '../../record/dead-letter.ts';
import type { Decoded, Undecodable } from './decoded.ts';
import { explainEventTime, isPlausible, readEventTime } from './event-time.ts';
import { quoted } from './quoted.ts';
import { compileRecordPath, type RecordAccessor } from './record-path.ts';

/** Longest id of a series or group, in bytes of UTF-8. */
export const SERIES_ID_BYTES_MAX = 512;

/** Largest magnitude of a value. The distance of two values is finite in the single precision of the models. */
export const VALUE_MAGNITUDE_MAX = 1.7014117e38;

/** No hexadecimal numbers, no blanks, no separators of thousands. */
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Replaces invalid bytes in a decoded string. With it two different ids could become one. */
const REPLACEMENT = '\uFFFD';

/** The path of the group id for the detector of `series`; null where each series is scored alone. */
export type GroupPathOf = (series: string) => string | null;

/** How far the event times of a series may lie ahead of the clock, where the mapping does not set it; milliseconds. */
export type FutureLimitOf = (series: string) => number;

export interface MappingOptions {
  readonly groupPathOf?: GroupPathOf | null | undefined;
  readonly futureLimitOf?: FutureLimitOf | undefined;
}

/** Maps a parsed record to an observation. `nowMs` is the clock, milliseconds since the epoch. Never throws. */
export type CompiledMapping = (record: unknown, nowMs: number) => Decoded;

/**
 * Ids are strings or numbers. The values of several series paths are joined by `/`. The value is a number, or the text
 * of a decimal one. Throws a RangeError when a path of the mapping is invalid.
 */
export function compileMapping(
  mapping: RecordMapping,
  { groupPathOf = null, futureLimitOf = () => Number.POSITIVE_INFINITY }: MappingOptions = {},
): CompiledMapping {
  const { timeUnit, futureMsMax } = mapping;
  const readSeries = compileSeries(mapping.series);
  const timeAt = compileRecordPath(mapping.time);
  const valueAt = compileRecordPath(mapping.value);
  const groupAt = groupPathOf === null ? null : groupAccessor(groupPathOf);

  return (record, nowMs) => {
    if (typeof record !== 'object' || record === null) {
      return undecodable('record-unreadable', `the record is ${quoted(record)}, not an object`, null);
    }
    const series = readSeries(record);
    if (typeof series !== 'string') return series;

    const rawTime = toBigInt(timeAt(record));
    const timestampMs = readEventTime(rawTime, timeUnit);
    const latestMs = nowMs + (futureMsMax ?? futureLimitOf(series));
    if (!isPlausible(timestampMs, latestMs)) {
      const { reason, detail } = explainEventTime(rawTime, { unit: timeUnit, timestampMs, latestMs });
      return undecodable(reason, detail, series);
    }

    const rawValue = valueAt(record);
    const value = typeof rawValue === 'number' ? rawValue : numberOf(toBigInt(rawValue));
    if (!(Math.abs(value) <= VALUE_MAGNITUDE_MAX)) return explainValue(rawValue, value, series);

    let group: string | null = null;
    const accessor = groupAt === null ? null : groupAt(series);
    if (accessor !== null) {
      const raw = toBigInt(accessor(record));
      if (!isId(raw)) return undecodable('group-missing', `the group id ${whyNoId(raw)}`, series);
      group = String(raw);
    }
    return { kind: 'observation', series, group, timestampMs, value };
  };
}

function compileSeries(paths: readonly string[]): (record: unknown) => string | Undecodable {
  if (paths.length === 0) throw new RangeError('a mapping needs a series path');
  const accessors = paths.map(compileRecordPath);
  const [only] = accessors;
  return (record) => {
    let series = '';
    for (let i = 0; i < accessors.length; i++) {
      const raw = accessors.length === 1 ? only(record) : accessors[i](record);
      const id = typeof raw === 'string' ? raw : toBigInt(raw);
      if (!isId(id)) {
        const reason = id === undefined || id === null || id === '' ? 'series-missing' : 'series-unreadable';
        return undecodable(reason, `the series id at ${quoted(paths[i])} ${whyNoId(id)}`, null);
      }
      series = i === 0 ? String(id) : `${series}/${id}`;
    }
    if (accessors.length > 1 && !isId(series)) {
      return undecodable('series-unreadable', `the joined series id ${whyNoId(series)}`, null);
    }
    return series;
  };
}

/** One accessor for each path. There are as many paths as detectors that score groups. */
function groupAccessor(groupPathOf: GroupPathOf): (series: string) => RecordAccessor | null {
  const accessors = new Map<string, RecordAccessor>();
  return (series) => {
    const path = groupPathOf(series);
    if (path === null) return null;
    let accessor = accessors.get(path);
    if (accessor === undefined) {
      accessor = compileRecordPath(path);
      accessors.set(path, accessor);
    }
    return accessor;
  };
}

/**
 * Ids become record keys. Characters that UTF-8 cannot encode could merge two series, and a key of NULs disturbs Kafka
 * consumers.
 */
function isId(raw: unknown): raw is string | number | bigint {
  if (typeof raw === 'string') {
    if (raw.length === 0 || raw.length > SERIES_ID_BYTES_MAX) return false;
    if (raw.length * 3 > SERIES_ID_BYTES_MAX && Buffer.byteLength(raw) > SERIES_ID_BYTES_MAX) return false;
    return raw.isWellFormed() && !raw.includes('\0') && !raw.includes(REPLACEMENT);
  }
  // Beyond 2^53 neighbouring integers are the same number.
  if (typeof raw === 'number') return Number.isSafeInteger(raw) || (Number.isFinite(raw) && !Number.isInteger(raw));
  return typeof raw === 'bigint';
}

function whyNoId(raw: unknown): string {
  if (raw === undefined || raw === null) return 'is missing';
  if (raw === '') return 'is empty';
  if (typeof raw === 'number') return `is ${raw}: a number that large must be written as a string`;
  if (typeof raw !== 'string') return `is ${quoted(raw)}, not a string or a number`;
  if (Buffer.byteLength(raw) > SERIES_ID_BYTES_MAX) return `is longer than ${SERIES_ID_BYTES_MAX} bytes`;
  return raw.includes('\0') ? 'holds a NUL character' : 'is not valid Unicode';
}

function explainValue(raw: unknown, value: number, series: string): Undecodable {
  if (raw === undefined || raw === null) return undecodable('value-missing', 'the record has no value', series);
  if (Number.isNaN(value) && typeof raw !== 'number') {
    return undecodable('value-not-a-number', `the value is ${quoted(raw)}, not a decimal number`, series);
  }
  const detail = Number.isFinite(value) ? `its magnitude is beyond ${VALUE_MAGNITUDE_MAX}` : 'not a finite number';
  return undecodable('value-not-finite', `the value is ${quoted(raw)}: ${detail}`, series);
}

/** Protobuf's 64-bit integers are objects. */
function toBigInt(raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null) return raw;
  const { toBigInt } = raw as { toBigInt?: unknown };
  return typeof toBigInt === 'function' ? toBigInt.call(raw) : raw;
}

/** Producers with decimal types write numbers as text. */
function numberOf(raw: unknown): number {
  return typeof raw === 'bigint' || (typeof raw === 'string' && DECIMAL.test(raw)) ? Number(raw) : Number.NaN;
}

function undecodable(reason: DeadLetterReason, detail: string, series: string | null): Undecodable {
  return { kind: 'dead-letter', reason, detail, series };
}
