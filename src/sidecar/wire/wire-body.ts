import { clampToFloat32 } from '../../forecast/float32.ts';
import type { FieldProblem } from './problem.ts';
import type { CheckValue } from './schema-problems.ts';
import type { WireLevel } from './wire-types.ts';

export type WireReading =
  | { readonly kind: 'body'; readonly body: unknown }
  | { readonly kind: 'not-json'; readonly reason: string }
  | { readonly kind: 'invalid'; readonly problems: readonly FieldProblem[] };

/** The fields that a schema names, and those of the objects among them; null for what is no object. */
export interface NamedFields {
  readonly [field: string]: NamedFields | null;
}

/** What holds for the body of a route. */
export interface BodyRules {
  readonly check: CheckValue;
  /** Other fields are dropped, whatever they hold and however deep it is: nobody has checked them. */
  readonly fields: NamedFields;
}

/**
 * Reads the bytes of a request: parses, checks against the schema, drops what it does not name, then brings what is long or needs its literal into the types that the
 * schema gives it (`Float64Array`, `WireLevel`). Bytes that are no UTF-8 are replaced, as JSON in any other encoding is none.
 */
export function readWireBody(bytes: Uint8Array, rules: BodyRules): WireReading {
  const text = new TextDecoder().decode(bytes);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    return { kind: 'not-json', reason: (error as Error).message };
  }
  const problems = rules.check(parsed);
  if (problems.length > 0) return { kind: 'invalid', problems };
  return { kind: 'body', body: typed(named(parsed, rules.fields) as ParsedBody, text) };
}

function named(value: unknown, fields: NamedFields | null): unknown {
  if (fields === null || typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(fields).filter(([field]) => Object.hasOwn(value, field));
  return Object.fromEntries(kept.map(([field, own]) => [field, named((value as Record<string, unknown>)[field], own)]));
}

/** The parts of any body that are given another type. */
interface ParsedBody {
  readonly series?: {
    readonly y: readonly (number | null)[];
    readonly X?: readonly (readonly unknown[])[] | null;
    readonly X_future?: readonly (readonly unknown[])[] | null;
  };
  readonly level?: number | readonly number[] | null;
}

function typed(body: ParsedBody, text: string): unknown {
  const { series, level } = body;
  return {
    ...body,
    ...(series === undefined ? {} : { series: { ...series, ...columnsOf(series) } }),
    ...(level === undefined || level === null ? {} : { level: levelsOf(level, text) }),
  };
}

function columnsOf({ y, X, X_future: future }: NonNullable<ParsedBody['series']>) {
  const coders = (X ?? []).map((values, i) => coderOf([values, future?.[i] ?? []]));
  const coded = (columns: readonly (readonly unknown[])[]) =>
    columns.map((values, i) => numbers(values.map(coders[i] ?? coderOf([values]) ?? plainNumber)));
  return {
    y: numbers(y),
    ...(X ? { X: coded(X), texts: coders.flatMap((coder, i) => (coder === null ? [] : [i])) } : {}),
    ...(future ? { X_future: coded(future) } : {}),
  };
}

type ColumnValue = (value: unknown) => number | null;

/** AnomalyFlags count as 0 and 1. */
const plainNumber: ColumnValue = (value) => (value === null ? null : Number(value));

/** Gives each category of a column a number, the same in its past and in its future; null for a column without texts. */
function coderOf(parts: readonly (readonly unknown[])[]): ColumnValue | null {
  if (!parts.some((values) => values.some((value) => typeof value === 'string'))) return null;
  const codes = new Map<string, number>();
  return (value) => {
    if (value === null) return null;
    const category = String(value);
    const code = codes.get(category) ?? codes.size;
    codes.set(category, code);
    return code;
  };
}

/** Clients send float32, infinities as its largest numbers; what lies beyond counts as these, so that squares stay finite. */
function numbers(values: readonly (number | null)[]): Float64Array {
  const column = new Float64Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    column[i] = value === null ? Number.NaN : clampToFloat32(value);
  }
  return column;
}

/** Levels as they were written (`99.0` is not `99`): the keys of intervals repeat them. */
function levelsOf(level: number | readonly number[], text: string): WireLevel | WireLevel[] {
  const wanted = typeof level === 'number' ? [level] : level;
  const literals = literalsOf(wanted, text);
  const levels = wanted.map((value, i) => ({ value, text: literals?.[i] ?? String(value) }));
  return typeof level === 'number' ? levels[0] : levels;
}

const LEVEL = /"level"\s*:\s*(?:\[([^\]]*)\]|([-+.\deE]+))/g;

/** The last place that holds these very numbers under `level`, as JSON.parse takes the last of equal keys. */
function literalsOf(wanted: readonly number[], text: string): string[] | undefined {
  let found: string[] | undefined;
  for (const [, list, single] of text.matchAll(LEVEL)) {
    const literals = (list ?? single).split(',').map((literal) => literal.trim());
    if (literals.length === wanted.length && wanted.every((value, i) => Number(literals[i]) === value))
      found = literals;
  }
  return found;
}
