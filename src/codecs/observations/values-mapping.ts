import type { RecordMapping } from '../../config/config.ts';
import { canonicalId } from '../../records/series/series-id.ts';
import { compileConnectPath } from './connect-values.ts';
import type { Decoded, Undecodable } from './decoded.ts';
import { idCheck, undecodable } from './id-check.ts';
import { compileLabels, compileObservation, compileSeries, type MappingOptions, noObject } from './mapping.ts';
import { entriesOf, plainValue } from './plain-value.ts';
import { START_PATH, TEMPORALITY_PATH } from './read-extras.ts';
import { compileRecordPath, parseRecordPath } from './record-path.ts';

/** One value of a record that holds many. */
interface ValueOfRecord {
  readonly record: object;
  readonly name: string;
  readonly value: unknown;
}

/** The observations of a record, and what of it is none, in its order. */
type CompiledValues = (record: unknown, nowMs: number) => readonly Decoded[];

export const RECORD_VALUES_MAX = 10_000;

/**
 * Each path of `values` is a value, named by its last part, or an object of values by their names. The id of a series
 * is `SERIES/NAME`, with labels `SERIES_NAME{...}`. In an object, what is no value is passed over as line protocol has
 * it: texts that are no numbers, lists and objects; booleans are 1 and 0. What is absent or null is passed over
 * everywhere; a record that has none of the paths is none. Throws a RangeError when a path of the mapping is invalid.
 */
export function compileValues(mapping: RecordMapping, options: MappingOptions): CompiledValues {
  const idOf = compileIds(mapping);
  const timeAt = compileRecordPath(mapping.time);
  const startAt = compileRecordPath(mapping.start ?? START_PATH);
  const temporalityAt = compileRecordPath(mapping.temporality ?? TEMPORALITY_PATH);
  const places = (mapping.values ?? []).map((path) => {
    return { at: compileConnectPath(path), name: String(parseRecordPath(path)?.at(-1) ?? path) };
  });
  const readers = {
    series: idOf,
    time: ({ record }: ValueOfRecord) => timeAt(record),
    value: ({ value }: ValueOfRecord) => value,
    start: ({ record }: ValueOfRecord) => startAt(record),
    temporality: ({ record }: ValueOfRecord) => temporalityAt(record),
    record: ({ record }: ValueOfRecord) => record,
  };
  const observationOf = compileObservation(mapping, readers, options);
  return (record, nowMs) => {
    if (typeof record !== 'object' || record === null) return [noObject(record)];
    const decoded: Decoded[] = [];
    let isMissing = true;
    for (const { at, name: own } of places) {
      const found = at(record);
      if (found === undefined) continue;
      isMissing = false;
      for (const [name, value] of valuesAt(found, own)) {
        if (decoded.length === RECORD_VALUES_MAX) return [tooMany];
        decoded.push(observationOf({ record, name, value }, nowMs));
      }
    }
    return isMissing ? [noValue] : decoded;
  };
}

const tooMany = undecodable('record-unreadable', `the record has more than ${RECORD_VALUES_MAX} values`, null);
const noValue = undecodable('value-missing', 'the record has nothing at any path of values', null);

/** The record is the same for all its values, and its name and labels are read once. */
function compileIds(mapping: RecordMapping): (value: ValueOfRecord) => string | Undecodable {
  const readName = compileSeries(mapping.series);
  const readLabels = mapping.labels === undefined ? null : compileLabels(mapping);
  const checkedId = idCheck(mapping);
  let newest: object | null = null;
  let named: ReturnType<typeof read>;
  const read = (record: object) => {
    const name = readName(record);
    if (typeof name !== 'string') return name;
    const labels = readLabels === null ? null : readLabels(record, name);
    return labels !== null && 'kind' in labels ? labels : { name, labels };
  };
  return ({ record, name: field }) => {
    if (record !== newest) {
      newest = record;
      named = read(record);
    }
    if ('kind' in named) return named;
    const { name, labels } = named;
    return checkedId(labels === null ? `${name}/${field}` : canonicalId(`${name}_${field}`, labels));
  };
}

function valuesAt(raw: unknown, name: string): readonly (readonly [string, unknown])[] {
  const found = plainValue(raw);
  if (found === null) return [];
  if (typeof found !== 'object' || Array.isArray(found)) return [[name, found]];
  return entriesOf(found).flatMap(([key, value]) => {
    const number = numericOf(plainValue(value));
    return number === undefined ? [] : [[key, number] as const];
  });
}

/** undefined if it is none. */
function numericOf(value: unknown): unknown {
  switch (typeof value) {
    case 'boolean':
      return value ? 1 : 0;
    case 'string':
      return value.trim() !== '' && Number.isFinite(Number(value)) ? value : undefined;
    case 'object':
      return undefined;
    default:
      return Number.isNaN(value) ? undefined : value;
  }
}
