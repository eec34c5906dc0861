import { isUtf8 } from 'node:buffer';
import { type FieldProblem, PROBLEMS_MAX } from '../problem.ts';
import { type CheckValue, noteLength } from '../schema/schema-problems.ts';
import type { WireLiteral } from '../wire-answer.ts';
import {
  CategoryReader,
  type ColumnReading,
  type NumberColumn,
  readNumbers,
  TooManyProblems,
} from './column-reader.ts';
import { JsonCursor, JsonSyntaxError } from './json-cursor.ts';

export type WireReading =
  | { readonly kind: 'body'; readonly body: unknown }
  | { readonly kind: 'not-json'; readonly reason: string }
  | { readonly kind: 'invalid'; readonly problems: readonly FieldProblem[] };

/**
 * How a field is read: an object by its fields; a list of objects by theirs; a list of numbers; several of them;
 * numbers with their literals; null: a scalar or a list of scalars.
 */
export type FieldShape = NamedFields | readonly [NamedFields] | 'column' | 'columns' | 'literals' | null;

/**
 * The fields of an object. Others are skipped. Those of a closed object, under `*`, are kept so that they are reported.
 */
export interface NamedFields {
  readonly [field: string]: FieldShape;
}

export interface BodyRules {
  readonly check: CheckValue;
  /** Known fields. Others are skipped, since nothing has validated them. */
  readonly fields: NamedFields;
}

const SERIES = ['body', 'series'];

/** Items that are kept of a list of scalars: one more than any schema allows, so that a longer list is refused. */
const LIST_ITEMS_MAX = 1_000_001;
/** The same for columns, for a list of objects, and for each list in one of them. */
const NESTED_ITEMS_MAX = 1_001;
/** Longer literals are formatted again. */
const LITERAL_LENGTH_MAX = 32;

/**
 * Parses a body, validates it, and converts columns and literals (`Float64Array`, `WireLiteral`). Unknown fields are
 * skipped, so memory is bounded by the known ones.
 */
export function readWireBody(bytes: Uint8Array, { check, fields }: BodyRules): WireReading {
  if (!isUtf8(bytes)) return { kind: 'not-json', reason: 'it is not UTF-8' };
  const reader = new BodyReader(bytes);
  try {
    const plain = reader.read(fields);
    const problems = check(plain);
    const columns = reader.columns();
    const all = [...problems, ...columns.problems].slice(0, PROBLEMS_MAX);
    if (all.length > 0) return { kind: 'invalid', problems: all };
    return { kind: 'body', body: typed(plain as PlainBody, columns.found, reader.literals) };
  } catch (error) {
    if (error instanceof TooManyProblems) return { kind: 'invalid', problems: error.problems };
    if (error instanceof JsonSyntaxError) return { kind: 'not-json', reason: error.message };
    throw error;
  }
}

const isList = (shape: FieldShape): shape is readonly [NamedFields] => Array.isArray(shape);

interface Columns {
  readonly y?: Float64Array;
  readonly X?: readonly Float64Array[];
  readonly X_future?: readonly Float64Array[];
  readonly texts?: readonly number[];
}

/** Reads known fields. Lists of values are read apart, and are empty in what is validated. */
class BodyReader {
  readonly #cursor: JsonCursor;
  readonly #columns = new Map<string, readonly NumberColumn[]>();
  /** Literals by the field of their numbers. */
  readonly literals = new Map<string, readonly string[]>();

  constructor(bytes: Uint8Array) {
    this.#cursor = new JsonCursor(bytes);
  }

  read(fields: NamedFields): unknown {
    const value = this.#value(fields, '');
    this.#cursor.end();
    return value;
  }

  #value(shape: FieldShape, name: string, itemsMax = LIST_ITEMS_MAX): unknown {
    const kind = this.#cursor.kind();
    if (kind === 'array' && shape === 'column') {
      this.#columns.set(name, [readNumbers(this.#cursor, { loc: [...SERIES, name], exogenous: false })]);
      return [];
    }
    if (kind === 'array' && shape === 'columns') return this.#columnList(name);
    if (isList(shape)) {
      if (kind === 'array') return this.#items(NESTED_ITEMS_MAX, () => this.#value(shape[0], name, NESTED_ITEMS_MAX));
    } else if (kind === 'object' && typeof shape === 'object' && shape !== null) return this.#object(shape, itemsMax);
    this.#columns.delete(name);
    if (shape === 'literals') return this.#literals(name);
    return kind === 'array' ? this.#items(itemsMax, () => this.#scalar()) : this.#scalar();
  }

  /** As JSON.parse does, the last of equal names counts. */
  #object(fields: NamedFields, itemsMax: number): object {
    const found = new Map<string, unknown>();
    // Columns of an earlier object of this name do not count.
    for (const name of Object.keys(fields)) this.#columns.delete(name);
    this.#cursor.fields((name) => {
      const known = Object.hasOwn(fields, name) && name !== '*';
      const kept = known || ('*' in fields && found.size < PROBLEMS_MAX);
      if (kept) found.set(name, this.#value(known ? fields[name] : null, name, itemsMax));
      else this.#cursor.skipValue();
    });
    return Object.fromEntries(found);
  }

  #columnList(name: string): unknown[] {
    const columns: NumberColumn[] = [];
    const plain: unknown[] = [];
    this.#cursor.items((i) => {
      if (i >= NESTED_ITEMS_MAX) this.#cursor.skipValue();
      else if (this.#cursor.kind() === 'array') {
        columns.push(readNumbers(this.#cursor, { loc: [...SERIES, name, i], exogenous: true }));
        plain.push([]);
      } else plain.push(this.#scalar());
    });
    this.#columns.set(name, columns);
    return plain;
  }

  #items(itemsMax: number, read: () => unknown): unknown[] {
    const items: unknown[] = [];
    let count = 0;
    this.#cursor.items((i) => {
      count = i + 1;
      if (i < itemsMax) items.push(read());
      else this.#cursor.skipValue();
    });
    if (count > items.length) noteLength(items, count);
    return items;
  }

  #literals(name: string): unknown {
    const literals: string[] = [];
    const one = () => {
      if (this.#cursor.kind() !== 'number') return this.#scalar();
      const literal = this.#cursor.readLiteral();
      const value = Number(literal);
      if (literals.length < LIST_ITEMS_MAX)
        literals.push(literal.length > LITERAL_LENGTH_MAX ? String(value) : literal);
      return value;
    };
    const values: unknown[] = [];
    const isList = this.#cursor.kind() === 'array';
    if (isList) {
      this.#cursor.items((i) => {
        const value = one();
        if (i < LIST_ITEMS_MAX) values.push(value);
      });
    } else values.push(one());
    this.literals.set(name, literals);
    return isList ? values : values[0];
  }

  /** Objects and lists, where none is valid, are left empty. */
  #scalar(): unknown {
    switch (this.#cursor.kind()) {
      case 'string':
        return this.#cursor.readString();
      case 'number':
        return this.#cursor.readNumber();
      case 'boolean':
        return this.#cursor.readBoolean();
      case 'null':
        return this.#cursor.readNull();
      case 'array':
        this.#cursor.skipValue();
        return [];
      case 'object':
        this.#cursor.skipValue();
        return {};
    }
  }

  /** The values of all lists. A text in the history or the future of a variable makes both categorical. */
  columns(): { readonly found: Columns; readonly problems: readonly FieldProblem[] } {
    const problems: FieldProblem[] = [];
    const withProblems = ({ column, problems: more }: ColumnReading) => {
      if (problems.length < PROBLEMS_MAX) problems.push(...more);
      return column;
    };
    const [y] = (this.#columns.get('y') ?? []).map(withProblems);
    const [past, future] = [this.#columns.get('X'), this.#columns.get('X_future')];
    const coders = Array.from({ length: Math.max(past?.length ?? 0, future?.length ?? 0) }, (_, i) => {
      return past?.[i]?.hasText === true || future?.[i]?.hasText === true ? new CategoryReader() : null;
    });
    const read = (name: string) => (column: NumberColumn, i: number) => {
      return withProblems(coders[i]?.read(this.#cursor, column, [...SERIES, name, i]) ?? column);
    };
    const found = {
      ...(y && { y }),
      ...(past && { X: past.map(read('X')), texts: past.flatMap((_, i) => (coders[i] === null ? [] : [i])) }),
      ...(future && { X_future: future.map(read('X_future')) }),
    };
    return { found, problems };
  }
}

/** The fields that are converted. Of a request that names a series, `series` is a text. */
interface PlainBody {
  readonly series?: object | string;
  readonly [field: string]: unknown;
}

function typed(body: PlainBody, columns: Columns, literals: ReadonlyMap<string, readonly string[]>): unknown {
  const { series } = body;
  const withLiterals = [...literals].map(([field, texts]) => [field, literalsOf(body[field], texts)]);
  return {
    ...body,
    ...(typeof series === 'object' ? { series: { ...series, ...columns } } : {}),
    ...Object.fromEntries(withLiterals),
  };
}

/** Numbers with their literals: a level `99.0` is not `99` in the keys of intervals. null stays. */
function literalsOf(value: unknown, texts: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one: number, i): WireLiteral => ({ value: one, text: texts[i] }));
  return typeof value === 'number' ? { value, text: texts[0] } : value;
}
