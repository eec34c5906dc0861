import { clampToFloat32 } from '../../forecast/float32.ts';
import type { FieldProblem } from './problem.ts';
import type { CheckValue } from './schema-problems.ts';
import type { WireLevel } from './wire-types.ts';

export type WireReading =
  | { readonly kind: 'body'; readonly body: unknown }
  | { readonly kind: 'not-json'; readonly reason: string }
  | { readonly kind: 'invalid'; readonly problems: readonly FieldProblem[] };

/** The fields of a schema, recursively; null for a field that is no object. */
export interface NamedFields {
  readonly [field: string]: NamedFields | null;
}

/** Validation and fields of a body. */
export interface BodyRules {
  readonly check: CheckValue;
  /** Known fields. Others are dropped, since nothing has validated them. */
  readonly fields: NamedFields;
}

/**
 * Parses a body, validates it, drops unknown fields, and converts columns and levels (`Float64Array`, `WireLevel`).
 * Invalid UTF-8 is replaced, since JSON in other encodings is invalid.
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

/** The fields that are converted. */
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

/** Booleans count as 0 and 1. */
const plainNumber: ColumnValue = (value) => (value === null ? null : Number(value));

/** Assigns codes to the categories of a column, the same in history and future; null for a column without texts. */
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

/** Values are clamped to float32, so that squares stay finite. Clients send infinities as its largest values. */
function numbers(values: readonly (number | null)[]): Float64Array {
  const column = new Float64Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    column[i] = value === null ? Number.NaN : clampToFloat32(value);
  }
  return column;
}

/** Levels with their literals: `99.0` is not `99` in the keys of intervals. */
function levelsOf(level: number | readonly number[], text: string): WireLevel | WireLevel[] {
  const wanted = typeof level === 'number' ? [level] : level;
  const literals = literalsOf(wanted, text);
  const levels = wanted.map((value, i) => ({ value, text: literals?.[i] ?? String(value) }));
  return typeof level === 'number' ? levels[0] : levels;
}

const LEVEL = /"level"\s*:\s*(?:\[([^\]]*)\]|([-+.\deE]+))/g;

/** The last occurrence of these numbers under `level`, as JSON.parse takes the last of equal keys. */
function literalsOf(wanted: readonly number[], text: string): string[] | undefined {
  let found: string[] | undefined;
  for (const [, list, single] of text.matchAll(LEVEL)) {
    const literals = (list ?? single).split(',').map((literal) => literal.trim());
    if (literals.length === wanted.length && wanted.every((value, i) => Number(literals[i]) === value))
      found = literals;
  }
  return found;
}
