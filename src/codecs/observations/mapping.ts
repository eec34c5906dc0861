import type { GroupSource, RecordMapping } from '../../config/config.ts';
import { VALUE_MAGNITUDE_MAX } from '../../detection/calibration/precision.ts';
import { canonicalId, NAME_LABEL, type SeriesLabels, sortedLabels } from '../../records/series/series-id.ts';
import { bareIdentity, groupIdOf, seriesIdentity } from '../../records/series/series-identity.ts';
import { UTC_CALENDAR, zoneOffsets } from '../../time/local-calendar.ts';
import { quoted } from '../formats/quoted.ts';
import { compileConnectPath } from './connect-values.ts';
import type { Decoded, Undecodable } from './decoded.ts';
import { explainEventTime, isPlausible, isZoneless, laterInstant, readEventTime } from './event-time.ts';
import type { FlatFields } from './flat-json.ts';
import {
  DROP_REMEDY,
  idCheck,
  isId,
  SERIES_ID_BYTES_MAX,
  SERIES_LABELS_MAX,
  undecodable,
  whyNoId,
  writtenBytesMax,
} from './id-check.ts';
import { entriesOf, plainLabel, plainValue } from './plain-value.ts';
import { extrasOfRecord, lowOf, START_PATH, TEMPORALITY_PATH } from './read-extras.ts';
import { compileRecordPath, type PathSegment, parseRecordPath, type RecordAccessor } from './record-path.ts';

/** A missing value, as a number or as this text: JSON has no word for it. */
const NAN_TEXT = 'NaN';

/** No hexadecimal numbers, no blanks, no separators of thousands. */
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * What the detector of a series makes groups of; null if it scores each series alone. Series are given by the ids
 * that `seriesIdentity` makes of their labels.
 */
export type GroupSourceOf = (source: string) => GroupSource;

/** The most by which event times of a series may be ahead of the clock, unless the mapping sets it; milliseconds. */
export type FutureLimitOf = (source: string) => number;

export interface MappingOptions {
  readonly groupSourceOf?: GroupSourceOf | null | undefined;
  readonly futureLimitOf?: FutureLimitOf | undefined;
  /** Called once: a time has no zone, and the mapping names no clock. */
  readonly onZoneless?: (() => void) | undefined;
}

/** Maps a parsed record to an observation. `nowMs` is the clock, milliseconds since the epoch. Never throws. */
type CompiledMapping = (record: unknown, nowMs: number) => Decoded;

/** The parts of `R` that make an observation. */
interface FieldReaders<R> {
  readonly series: (from: R) => string | Undecodable;
  readonly time: (from: R) => unknown;
  readonly value: (from: R) => unknown;
  readonly start: (from: R) => unknown;
  readonly temporality: (from: R) => unknown;
  /** The record that has the path of a group. */
  readonly record: (from: R) => unknown;
}

/**
 * Ids are strings or numbers. The values of several series paths are joined by `/`. The value is a number, or the text
 * of a decimal one; NaN is a missing value. Throws a RangeError when a path of the mapping is invalid.
 */
export function compileMapping(mapping: RecordMapping, options: MappingOptions = {}): CompiledMapping {
  const series =
    mapping.labels === undefined
      ? compileSeries(mapping.series, writtenBytesMax(mapping))
      : compileLabelledSeries(mapping);
  const readers = {
    series,
    time: compileRecordPath(mapping.time),
    value: compileConnectPath(mapping.value),
    start: compileRecordPath(mapping.start ?? START_PATH),
    temporality: compileRecordPath(mapping.temporality ?? TEMPORALITY_PATH),
    record: (record: unknown) => record,
  };
  const observationOf = compileObservation(mapping, readers, options);
  return (record, nowMs) =>
    typeof record !== 'object' || record === null ? noObject(record) : observationOf(record, nowMs);
}

/** A mapping of records that are read by `flatJson`. */
export interface FlatMapping {
  /** The fields that it needs, and the places of those that may be integers beyond 2^53. */
  readonly names: readonly string[];
  readonly exact: readonly number[];
  readonly read: (fields: FlatFields, nowMs: number) => Decoded;
}

/** As `compileMapping`, where all that is needed are fields of the record itself; else null. */
export function compileFlatMapping(mapping: RecordMapping, options: MappingOptions): FlatMapping | null {
  const { start = START_PATH, temporality = TEMPORALITY_PATH } = mapping;
  const paths = [...mapping.series, mapping.time, mapping.value, start, temporality];
  const segments = new Map(paths.map((path) => [path, parseRecordPath(path) ?? []]));
  const isField = ([name, ...more]: readonly PathSegment[]) =>
    typeof name === 'string' && more.length === 0 && !(name in Object.prototype);
  if (mapping.labels !== undefined || options.groupSourceOf || ![...segments.values()].every(isField)) return null;
  const names = [...new Set(Array.from(segments.values(), ([name]) => String(name)))];
  const accessorOf = (path: string): RecordAccessor => {
    const place = names.indexOf(String(segments.get(path)?.[0]));
    return (fields) => (fields as FlatFields)[place];
  };
  const readers = {
    series: compileSeries(mapping.series, writtenBytesMax(mapping), accessorOf),
    time: accessorOf(mapping.time),
    value: accessorOf(mapping.value),
    start: accessorOf(start),
    temporality: accessorOf(temporality),
    record: (fields: FlatFields) => fields,
  };
  const exact = [...mapping.series, mapping.value].map((path) => names.indexOf(String(segments.get(path)?.[0])));
  return { names, exact, read: compileObservation(mapping, readers, options) };
}

export function noObject(record: unknown): Undecodable {
  return undecodable('record-unreadable', `the record is ${quoted(record)}, not an object`, null);
}

/** Checks what is read, and makes an observation of it. */
export function compileObservation<R>(
  mapping: RecordMapping,
  { series: readSeries, time: timeAt, value: valueAt, start, temporality, record: recordOf }: FieldReaders<R>,
  { groupSourceOf = null, futureLimitOf = () => Number.POSITIVE_INFINITY, onZoneless }: MappingOptions,
): (from: R, nowMs: number) => Decoded {
  const { timeUnit, futureMsMax, timeZone = null } = mapping;
  const clock = timeZone === null ? UTC_CALENDAR : { offsets: zoneOffsets(timeZone) };
  let reportsZoneless = timeUnit === 'iso' && timeZone === null && onZoneless !== undefined;
  const identityOf = seriesIdentity(mapping);
  const isMade = (mapping.idTemplate ?? null) !== null;
  const readGroup = groupSourceOf === null ? null : groupReader(groupSourceOf);
  return (record, nowMs) => {
    const written = readSeries(record);
    if (typeof written !== 'string') return written;
    const identity = identityOf === null ? bareIdentity(written) : identityOf(written);
    const { id: series, source, replica } = identity;
    if (identityOf !== null && !isId(series)) {
      const made = series === written ? 'the series id' : `the id that input makes of series ${quoted(written)}`;
      return undecodable('series-unreadable', `${made} ${whyNoId(series)}`, null);
    }

    const rawTime = plainValue(timeAt(record));
    const timestampMs = readEventTime(rawTime, timeUnit, clock);
    if (reportsZoneless && isZoneless(rawTime)) {
      reportsZoneless = false;
      onZoneless?.();
    }
    // Most times are past, and need no limit.
    const latestMs = timestampMs <= nowMs ? nowMs : nowMs + (futureMsMax ?? futureLimitOf(source));
    if (!isPlausible(timestampMs, latestMs)) {
      const { reason, detail } = explainEventTime(rawTime, { unit: timeUnit, timestampMs, latestMs, timeZone });
      return undecodable(reason, detail, series);
    }

    const rawValue = plainValue(valueAt(record));
    const value = typeof rawValue === 'number' ? rawValue : numberOf(rawValue);
    if (!(Math.abs(value) <= VALUE_MAGNITUDE_MAX)) {
      if (!Number.isNaN(rawValue) && rawValue !== NAN_TEXT) return explainValue(rawValue, value, series);
      const missing = { kind: 'missing', series, timestampMs } as const;
      return isMade ? { ...missing, source } : missing;
    }

    const startsAt = start(record) ?? null;
    const kind = temporality(record) ?? null;
    const low = Math.abs(value) <= Number.MAX_SAFE_INTEGER ? 0 : lowOf(rawValue);
    const isBare = startsAt === null && kind === null && low === 0;
    const rawExtras = isBare ? null : { start: plainValue(startsAt), temporality: kind, low };
    const own = rawExtras === null ? undefined : extrasOfRecord(rawExtras, { timeUnit, timestampMs, clock });
    const extras = replica === undefined ? own : { ...own, replica };
    const laterMs = clock.offsets.length === 0 ? null : laterInstant(rawTime, clock);
    const raw = readGroup === null ? null : readGroup(recordOf(record), source);
    if (raw === null && !isMade && extras === undefined && laterMs === null) {
      return { kind: 'observation', series, group: null, timestampMs, value };
    }
    if (raw !== null && !isId(raw.id)) return undecodable('group-missing', `the group id ${whyNoId(raw.id)}`, series);
    const group = raw === null ? null : String(raw.id);
    const observation = { kind: 'observation', series, group, timestampMs, value } as const;
    return {
      ...observation,
      ...(isMade && { source }),
      ...(extras && { extras }),
      ...(laterMs !== null && { laterMs }),
    };
  };
}

/** The id of a series by its name and an object of labels, as `canonicalId()` has it. */
function compileLabelledSeries(mapping: RecordMapping): (record: unknown) => string | Undecodable {
  const readName = compileSeries(mapping.series);
  const readLabels = compileLabels(mapping);
  const checkedId = idCheck(mapping);
  return (record) => {
    const name = readName(record);
    const labels = typeof name === 'string' ? readLabels(record, name) : name;
    return 'kind' in labels ? labels : checkedId(canonicalId(String(name), labels));
  };
}

/**
 * Texts, numbers and booleans by their names, without those that are dropped; null and the empty text are none. The
 * name of the metric may be among them, as prometheus-kafka-adapter has it.
 */
export function compileLabels({
  labels: path = '',
  dropLabels = [],
}: RecordMapping): (record: unknown, metric: string) => SeriesLabels | Undecodable {
  const labelsAt = compileRecordPath(path);
  const dropped = new Set(dropLabels);
  const unreadable = (detail: string) => undecodable('series-unreadable', detail, null);
  return (record, metric) => {
    const raw = plainValue(labelsAt(record)) ?? {};
    if (typeof raw !== 'object' || Array.isArray(raw)) {
      return unreadable(`the labels at ${quoted(path)} are ${quoted(raw)}, not an object`);
    }
    const labels: [string, string][] = [];
    for (const [label, value] of entriesOf(raw)) {
      const text = plainLabel(value) ?? '';
      if (label === NAME_LABEL && text === metric) continue;
      if (label === NAME_LABEL) return unreadable(`the label ${NAME_LABEL} is ${quoted(text)}, not ${quoted(metric)}`);
      if (typeof text === 'object') return unreadable(`the label ${quoted(label)} is ${quoted(text)}, not a text`);
      if (text !== '' && !dropped.has(label)) labels.push([label, String(text)]);
    }
    return labels.length > SERIES_LABELS_MAX
      ? unreadable(`the series has ${labels.length} labels, more than ${SERIES_LABELS_MAX}: ${DROP_REMEDY}`)
      : sortedLabels(labels);
  };
}

export function compileSeries(
  paths: readonly string[],
  bytesMax: number = SERIES_ID_BYTES_MAX,
  accessorOf: (path: string) => RecordAccessor = compileRecordPath,
): (record: unknown) => string | Undecodable {
  if (paths.length === 0) throw new RangeError('a mapping needs a series path');
  const accessors = paths.map(accessorOf);
  const [only] = accessors;
  return (record) => {
    let series = '';
    for (let i = 0; i < accessors.length; i++) {
      const raw = accessors.length === 1 ? only(record) : accessors[i](record);
      const id = typeof raw === 'string' ? raw : plainLabel(raw);
      if (!isId(id, bytesMax)) {
        const reason = id === undefined || id === null || id === '' ? 'series-missing' : 'series-unreadable';
        return undecodable(reason, `the series id at ${quoted(paths[i])} ${whyNoId(id, bytesMax)}`, null);
      }
      series = i === 0 ? String(id) : `${series}/${id}`;
    }
    if (accessors.length > 1 && !isId(series, bytesMax)) {
      return undecodable('series-unreadable', `the joined series id ${whyNoId(series, bytesMax)}`, null);
    }
    return series;
  };
}

/** The id of the group of a record; null if its series is scored alone. */
type ReadGroup = (record: unknown, source: string) => { readonly id: unknown } | null;

/** One accessor for each path. There are as many paths as detectors that score groups. */
function groupReader(groupSourceOf: GroupSourceOf): ReadGroup {
  const accessors = new Map<string, RecordAccessor>();
  return (record, source) => {
    const from = groupSourceOf(source);
    if (from === null) return null;
    if (typeof from !== 'string') return { id: groupIdOf(source, from) };
    let accessor = accessors.get(from);
    if (accessor === undefined) {
      accessor = compileRecordPath(from);
      accessors.set(from, accessor);
    }
    return { id: plainLabel(accessor(record)) };
  };
}

function explainValue(raw: unknown, value: number, series: string): Undecodable {
  if (raw === undefined || raw === null) return undecodable('value-missing', 'the record has no value', series);
  if (Number.isNaN(value) && typeof raw !== 'number') {
    return undecodable('value-not-a-number', `the value is ${quoted(raw)}, not a decimal number`, series);
  }
  const detail = Number.isFinite(value) ? `its magnitude is beyond ${VALUE_MAGNITUDE_MAX}` : 'not a finite number';
  return undecodable('value-not-finite', `the value is ${quoted(raw)}: ${detail}`, series);
}

/** Producers with decimal types write numbers as text. */
function numberOf(raw: unknown): number {
  return typeof raw === 'bigint' || (typeof raw === 'string' && DECIMAL.test(raw)) ? Number(raw) : Number.NaN;
}
