import type { RecordMapping, TimeUnit } from '../../config/config.ts';
import { type PointExtras, wholeInteger } from '../../records/point-extras.ts';
import { bareIdentity, groupIdOf, seriesIdentity } from '../../records/series/series-identity.ts';
import { compileMapping, type FutureLimitOf, type GroupSourceOf } from './mapping.ts';
import { START_PATH, TEMPORALITY_PATH } from './read-extras.ts';
import { parseRecordPath } from './record-path.ts';

export interface WritableObservation {
  readonly series: string;
  /** null if each series is scored alone. */
  readonly group: string | null;
  /** Integer milliseconds since the epoch. */
  readonly timestampMs: number;
  readonly value: number;
  readonly extras?: PointExtras | undefined;
}

type WrittenObservation =
  | { readonly kind: 'record'; readonly key: Buffer; readonly value: Buffer }
  | { readonly kind: 'refused'; readonly reason: string };

/** `nowMs` is the clock, milliseconds since the epoch. */
export type WriteObservation = (observation: WritableObservation, nowMs: number) => WrittenObservation;

/**
 * Writes an observation as a JSON record that `mapping` decodes again, without the labels that are dropped. The key is
 * the group id, or else the series id.
 * An observation is refused when its record would be decoded differently, or not at all.
 */
export function compileObservationWriter(
  mapping: RecordMapping,
  groupSourceOf: GroupSourceOf,
  futureLimitOf?: FutureLimitOf,
): WriteObservation {
  const read = compileMapping(mapping, { groupSourceOf, futureLimitOf });
  const identityOf = seriesIdentity(mapping);
  return (observation, nowMs) => {
    const { timestampMs, value, extras } = observation;
    const identity = identityOf?.(observation.series) ?? bareIdentity(observation.series);
    const { id: series, source, carried } = identity;
    const from = groupSourceOf(source);
    const group = from === null || typeof from === 'string' ? observation.group : groupIdOf(source, from);
    if (group !== null && from === null) {
      return refused(`the detector of series ${JSON.stringify(series)} scores it alone, not in a group`);
    }
    const parts = splitSeries(carried ?? source, mapping.series.length);
    if (parts === null) {
      return refused(`series ${JSON.stringify(source)} is not ${mapping.series.join(' and ')} joined by /`);
    }
    const record: Place = Object.create(null);
    mapping.series.forEach((path, i) => void put(record, path, parts[i]));
    put(record, mapping.time, timeIn(mapping.timeUnit, timestampMs));
    put(record, mapping.value, extras?.low === undefined ? value : String(wholeInteger(value, extras.low)));
    const { startMs, isDelta } = extras ?? {};
    if (startMs !== undefined) put(record, mapping.start ?? START_PATH, timeIn(mapping.timeUnit, startMs));
    if (isDelta) put(record, mapping.temporality ?? TEMPORALITY_PATH, 'delta');
    if (group !== null && typeof from === 'string') put(record, from, group);
    const back = read(record, nowMs);
    if (back.kind === 'dead-letter') return refused(back.detail);
    if (back.kind === 'missing') return refused('the value is NaN, which is no value');
    if (back.series !== series || back.timestampMs !== timestampMs || back.value !== value || back.group !== group) {
      return refused('the paths of the input mapping conflict');
    }
    return { kind: 'record', key: Buffer.from(group ?? series), value: Buffer.from(JSON.stringify(record)) };
  };
}

type Place = Record<string | number, unknown>;

/** Sets the value at a path, and creates the objects and arrays on the way. */
function put(record: Place, path: string, value: unknown): void {
  const segments = parseRecordPath(path);
  if (segments === null) throw new RangeError(`not a record path: ${JSON.stringify(path)}`);
  let place = record;
  for (const [i, segment] of segments.slice(0, -1).entries()) {
    const next = place[segment];
    // A scalar on the way is kept. Decoding the record will fail then.
    if (next !== undefined && (typeof next !== 'object' || next === null)) return;
    place[segment] ??= typeof segments[i + 1] === 'number' ? [] : Object.create(null);
    place = place[segment] as Place;
  }
  place[segments.at(-1)!] = value;
}

/** The last part keeps further slashes. */
function splitSeries(series: string, count: number): readonly string[] | null {
  const parts = series.split('/');
  if (parts.length < count) return null;
  return [...parts.slice(0, count - 1), parts.slice(count - 1).join('/')];
}

function timeIn(unit: TimeUnit, timestampMs: number): number | string {
  switch (unit) {
    case 'iso': {
      const date = new Date(timestampMs);
      // No date at all is refused as what it is, when the record is read back.
      return Number.isNaN(date.getTime()) ? String(timestampMs) : date.toISOString();
    }
    case 's':
      return timestampMs / 1_000;
    case 'ms':
      return timestampMs;
    case 'us':
      return timestampMs * 1_000;
    case 'ns':
      return timestampMs * 1_000_000;
  }
}

function refused(reason: string): WrittenObservation {
  return { kind: 'refused', reason };
}
