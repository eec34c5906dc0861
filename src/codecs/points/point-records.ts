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
      const isWatched = groupPathOf(series) !== 'unwatched';
      const form = isWatched ? seriesRecord(series, mapping, write) : null;
      record = isWatched ? form && { ...form, futureMsMax } : 'unwatched';
      known.set(series, record);
    }
    return record;
  };
  return ({ series: all, ...given }, nowMs) => {
    const written = new WrittenRecords();
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
        const timestampMs = timestampsMs[i];
        const value = values[i];
        const extras = allExtras?.[i];
        const fits =
          Number.isInteger(timestampMs) && isPlausible(timestampMs, latestMs) && Math.abs(value) <= VALUE_MAGNITUDE_MAX;
        if (record !== null && group === null && fits && (extras === undefined || record.takesExtras)) {
          written.add(record, recordText(record, written.timeText(i, timestampMs), value, extras));
          continue;
        }
        const outcome = write({ series, group, timestampMs, value, extras }, nowMs);
        if (outcome.kind === 'record') written.addRecord(outcome);
        else refusals.add(`${series.slice(0, 200)}: ${outcome.reason}`);
      }
    }
    return { records: written.flushed(), unwatched, ...refusals.all };
  };
}

/** Bytes after which records get a new buffer: a record that waits keeps its whole buffer in memory. */
const SHARED_BYTES_MAX = 65_536;

/** The records of one body, whose texts become bytes at once. */
class WrittenRecords {
  readonly #records: KeyedRecord[] = [];
  readonly #times: number[] = [];
  readonly #timeTexts: string[] = [];
  #keys: Buffer[] = [];
  #ends: number[] = [];
  #text = '';

  /** Most series of a body have the same times in the same places. */
  timeText(place: number, timestampMs: number): string {
    if (this.#times[place] !== timestampMs) {
      this.#times[place] = timestampMs;
      this.#timeTexts[place] = String(timestampMs);
    }
    return this.#timeTexts[place];
  }

  add({ key, latin1 }: SeriesRecord, text: string): void {
    if (!latin1) {
      this.addRecord({ key, value: Buffer.from(text) });
      return;
    }
    if (this.#text.length > SHARED_BYTES_MAX) this.flushed();
    this.#text += text;
    this.#keys.push(key);
    this.#ends.push(this.#text.length);
  }

  addRecord(record: KeyedRecord): void {
    this.flushed().push(record);
  }

  flushed(): KeyedRecord[] {
    const bytes = Buffer.from(this.#text, 'latin1');
    for (let i = 0, start = 0; i < this.#keys.length; i++) {
      this.#records.push({ key: this.#keys[i], value: bytes.subarray(start, this.#ends[i]) });
      start = this.#ends[i];
    }
    [this.#keys, this.#ends, this.#text] = [[], [], ''];
    return this.#records;
  }
}

/** A time and a value in the place of those of a point. */
const [ANY_MS, ANY_VALUE] = [1_234_567_890_123, 9.87654321012345e-7];

/** null if its records have no such form: then each is written, and read back, alone. */
function seriesRecord(
  series: string,
  mapping: RecordMapping,
  write: WriteObservation,
): Omit<SeriesRecord, 'futureMsMax'> | null {
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
  return { key: written.key, parts, timeIsFirst, latin1: isAscii(written.value), takesExtras };
}

/** The fields of a record have the names that `schemas/observation` gives them. */
function isDefault({ series, time, value, start, temporality }: RecordMapping): boolean {
  const names = [series.join(), time, value, start ?? START_PATH, temporality ?? TEMPORALITY_PATH];
  return names.join() === `series,timestamp,value,${START_PATH},${TEMPORALITY_PATH}`;
}

function recordText(
  { parts, timeIsFirst }: SeriesRecord,
  time: string,
  value: number,
  extras: PointExtras | undefined,
): string {
  // Numbers are the same in JSON as in a text: they are finite.
  const digits = extras?.low === undefined ? String(value) : `"${wholeInteger(value, extras.low)}"`;
  const text = timeIsFirst
    ? parts[0] + time + parts[1] + digits + parts[2]
    : parts[0] + digits + parts[1] + time + parts[2];
  return extras === undefined ? text : withExtras(text, extras);
}

function withExtras(text: string, { startMs, isDelta }: PointExtras): string {
  const start = startMs === undefined ? '' : `,"${START_PATH}":${startMs}`;
  const temporality = isDelta ? `,"${TEMPORALITY_PATH}":"delta"` : '';
  return `${text.slice(0, -1)}${start}${temporality}}`;
}
