import { isAscii } from 'node:buffer';
import type { GroupSource, RecordMapping } from '../../config/config.ts';
import { VALUE_MAGNITUDE_MAX } from '../../detection/calibration/precision.ts';
import { type PointExtras, wholeInteger } from '../../records/point-extras.ts';
import { isPlausible } from '../observations/event-time.ts';
import type { FutureLimitOf } from '../observations/mapping.ts';
import { compileObservationWriter, type WriteObservation } from '../observations/observation-writer.ts';
import { START_PATH, TEMPORALITY_PATH } from '../observations/read-extras.ts';
import { type DecodedPoints, RefusedPoints } from './series-points.ts';

/** A record of the input, with the key of its series or group. */
export interface KeyedRecord {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** The outcome of the points of one record or body. */
export interface PointRecords {
  readonly records: readonly KeyedRecord[];
  /** Points of series that no detector watches. */
  readonly unwatched: number;
  readonly refused: number;
  /** Why, of the first of them. */
  readonly reasons: readonly string[];
}

/** The path of groups of the detector of a series; `unwatched` without a detector. */
export type WatchedGroupPath = (series: string) => GroupSource | 'unwatched';

interface PointRecordOptions {
  /** The places of id, time and value in a record. */
  readonly mapping: RecordMapping;
  readonly groupPathOf: WatchedGroupPath;
  readonly futureLimitOf?: FutureLimitOf;
}

/** `nowMs` is the clock, milliseconds since the epoch. */
export type RecordsOfPoints = (points: DecodedPoints, nowMs: number) => PointRecords;

/** Series whose records are known, by their ids. Beyond it all are forgotten, and made again. */
const SERIES_MAX = 50_000;

/** The common parts of the records of one series. */
interface SeriesRecord {
  readonly key: Buffer;
  /** JSON before the first and the second number, and after it. */
  readonly parts: readonly [string, string, string];
  readonly timeIsFirst: boolean;
  readonly latin1: boolean;
  readonly futureMsMax: number;
  /** Start and temporality may be at its end. */
  readonly takesExtras: boolean;
}

/**
 * Writes points as JSON records of one observation each. A point that would not be read back is refused, and so is one
 * of a series whose detector scores groups by a path of the record: points name none.
 */
export function compilePointRecords({ mapping, groupPathOf, futureLimitOf }: PointRecordOptions): RecordsOfPoints {
  const knownGroupPath = (series: string) => {
    const path = groupPathOf(series);
    return path === 'unwatched' ? null : path;
  };
  const write = compileObservationWriter(mapping, knownGroupPath, futureLimitOf);
  const known = new Map<string, SeriesRecord | 'unwatched' | null>();
  const recordOf = (series: string) => {
    let record = known.get(series);
    if (record === undefined) {
      if (known.size === SERIES_MAX) known.clear();
      const futureMsMax = mapping.futureMsMax ?? futureLimitOf?.(series) ?? Number.POSITIVE_INFINITY;
      record =
        groupPathOf(series) === 'unwatched' ? 'unwatched' : seriesRecord(series, { mapping, write, futureMsMax });
      known.set(series, record);
    }
    return record;
  };
  return ({ series: all, ...given }, nowMs) => {
    const records: KeyedRecord[] = [];
    const refusals = new RefusedPoints();
    refusals.addAll(given);
    let unwatched = 0;
    for (const { id: series, timestampsMs, values, extras: allExtras, group = null } of all) {
      const record = recordOf(series);
      if (record === 'unwatched') {
        unwatched += values.length;
        continue;
      }
      const latestMs = nowMs + (record?.futureMsMax ?? 0);
      for (let i = 0; i < values.length; i++) {
        const [timestampMs, value, extras] = [timestampsMs[i], values[i], allExtras?.[i]];
        const fits =
          Number.isInteger(timestampMs) && isPlausible(timestampMs, latestMs) && Math.abs(value) <= VALUE_MAGNITUDE_MAX;
        if (record !== null && group === null && fits && (extras === undefined || record.takesExtras)) {
          records.push({ key: record.key, value: recordBytes(record, { timestampMs, value, extras }) });
          continue;
        }
        const written = write({ series, group, timestampMs, value, extras }, nowMs);
        if (written.kind === 'record') records.push(written);
        else refusals.add(`${series.slice(0, 200)}: ${written.reason}`);
      }
    }
    return { records, unwatched, ...refusals.all };
  };
}

/** A time and a value in the place of those of a point. */
const [ANY_MS, ANY_VALUE] = [1_234_567_890_123, 9.87654321012345e-7];

interface SeriesRecordOptions {
  readonly mapping: RecordMapping;
  readonly write: WriteObservation;
  readonly futureMsMax: number;
}

/** null if its records have no such form: then each is written, and read back, alone. */
function seriesRecord(series: string, { mapping, write, futureMsMax }: SeriesRecordOptions): SeriesRecord | null {
  if (mapping.timeUnit !== 'ms') return null;
  const written = write({ series, group: null, timestampMs: ANY_MS, value: ANY_VALUE }, ANY_MS);
  if (written.kind === 'refused') return null;
  const text = written.value.toString();
  const [time, value] = [String(ANY_MS), String(ANY_VALUE)];
  const [timeAt, valueAt] = [text.indexOf(time), text.indexOf(value)];
  if (timeAt !== text.lastIndexOf(time) || valueAt !== text.lastIndexOf(value)) return null;
  const timeIsFirst = timeAt < valueAt;
  const [first, second] = timeIsFirst ? [time, value] : [value, time];
  const [before, rest] = [text.slice(0, Math.min(timeAt, valueAt)), text.slice(Math.min(timeAt, valueAt))];
  const secondAt = rest.indexOf(second);
  const parts = [before, rest.slice(first.length, secondAt), rest.slice(secondAt + second.length)] as const;
  const takesExtras = isDefault(mapping) && parts[2].endsWith('}');
  return { key: written.key, parts, timeIsFirst, latin1: isAscii(written.value), futureMsMax, takesExtras };
}

/** The fields of a record have the names that `schemas/observation` gives them. */
function isDefault({ series, time, value, start, temporality }: RecordMapping): boolean {
  const names = [series.join(), time, value, start ?? START_PATH, temporality ?? TEMPORALITY_PATH];
  return names.join() === `series,timestamp,value,${START_PATH},${TEMPORALITY_PATH}`;
}

interface PointToWrite {
  readonly timestampMs: number;
  readonly value: number;
  readonly extras: PointExtras | undefined;
}

function recordBytes(
  { parts, timeIsFirst, latin1 }: SeriesRecord,
  { timestampMs, value, extras }: PointToWrite,
): Buffer {
  const digits = extras?.low === undefined ? value : `"${wholeInteger(value, extras.low)}"`;
  const [first, second] = timeIsFirst ? [timestampMs, digits] : [digits, timestampMs];
  // Numbers are the same in JSON as in a text: they are finite.
  const text = `${parts[0]}${first}${parts[1]}${second}${parts[2]}`;
  return Buffer.from(extras === undefined ? text : withExtras(text, extras), latin1 ? 'latin1' : 'utf8');
}

function withExtras(text: string, { startMs, isDelta }: PointExtras): string {
  const start = startMs === undefined ? '' : `,"${START_PATH}":${startMs}`;
  const temporality = isDelta ? `,"${TEMPORALITY_PATH}":"delta"` : '';
  return `${text.slice(0, -1)}${start}${temporality}}`;
}
