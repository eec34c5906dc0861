import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Settings } from 'typebox/system';
import { type FieldProblem, PROBLEMS_MAX } from '../problem.ts';
import { integerWords } from './integer-texts.ts';

/** Longer inputs are not echoed. */
const INPUT_LENGTH_MAX = 200;

Settings.Set({ maxErrors: 2 * PROBLEMS_MAX });

/** Validates a value. Returns all problems, none for a valid value. */
export type CheckValue = (value: unknown) => FieldProblem[];

/**
 * Compiles a schema into a validator whose problems have the format that public clients expect.
 * @param root first element of every `loc`: `body` or `query`
 */
export function schemaCheck(schema: TSchema, root: string): CheckValue {
  const compiled = Compile(schema);
  return (value) => {
    if (compiled.Check(value)) return [];
    const problems = compiled.Errors(value).flatMap((error) => problemsOf(error as SchemaError, value, root));
    return problems.slice(0, PROBLEMS_MAX);
  };
}

interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message: string;
}

type ProblemText = Pick<FieldProblem, 'msg' | 'type' | 'ctx'>;

function problemsOf({ keyword, instancePath, params, message }: SchemaError, value: unknown, root: string) {
  const path = instancePath.split('/').slice(1).map(pathKey);
  const loc = [root, ...path];
  if (keyword === 'required') {
    const missing = params.requiredProperties as readonly string[];
    return missing.map((name): FieldProblem => ({ loc: [...loc, name], msg: 'Field required', type: 'missing' }));
  }
  // The extra property is reported separately, as `boolean`.
  if (keyword === 'additionalProperties') return [];
  const input = valueAt(value, path);
  const problem = WORDS[keyword]?.(params, input) ?? { msg: `Input ${message}`, type: 'value_error' };
  const shown = shownInput(input);
  return [{ loc, ...problem, ...(shown === undefined ? {} : { input: shown }) }];
}

const TYPE_MESSAGES: Readonly<Record<string, ProblemText>> = {
  integer: { msg: 'Input should be a valid integer', type: 'int_type' },
  number: { msg: 'Input should be a valid number', type: 'float_type' },
  string: { msg: 'Input should be a valid string', type: 'string_type' },
  boolean: { msg: 'Input should be a valid boolean', type: 'bool_type' },
  array: { msg: 'Input should be a valid list', type: 'list_type' },
  object: {
    msg: 'Input should be a valid dictionary or object to extract fields from',
    type: 'model_attributes_type',
  },
};

const FRACTIONAL: ProblemText = {
  msg: 'Input should be a valid integer, got a number with a fractional part',
  type: 'int_from_float',
};
/** JSON has literals beyond the range of numbers, such as 1e400. */
const NOT_FINITE: ProblemText = {
  msg: 'Input should be a finite number, got one beyond 1.8e308',
  type: 'finite_number',
};

/** The problem of a value of another type. */
export function typeProblem(type: string, loc: FieldProblem['loc'], input: unknown): FieldProblem {
  return { loc, ...TYPE_MESSAGES[type], ...(input === undefined ? {} : { input }) };
}

const bound = (type: string, words: string, key: string) => (params: SchemaError['params']) => ({
  msg: `Input should be ${words} ${params.limit}`,
  type,
  ctx: { [key]: params.limit },
});

const WORDS: Readonly<Record<string, (params: SchemaError['params'], input: unknown) => ProblemText>> = {
  type: ({ type }, input) => {
    const first = String(Array.isArray(type) ? type[0] : type);
    if (typeof input === 'number' && (first === 'integer' || first === 'number')) {
      return Number.isFinite(input) ? FRACTIONAL : NOT_FINITE;
    }
    return TYPE_MESSAGES[first] ?? { msg: `Input should be ${first}`, type: 'type_error' };
  },
  minimum: bound('greater_than_equal', 'greater than or equal to', 'ge'),
  exclusiveMinimum: bound('greater_than', 'greater than', 'gt'),
  maximum: bound('less_than_equal', 'less than or equal to', 'le'),
  exclusiveMaximum: bound('less_than', 'less than', 'lt'),
  enum: ({ allowedValues }) => {
    const shown = (allowedValues as readonly unknown[])
      .filter((value) => value !== null)
      .map((value) => (typeof value === 'string' ? `'${value}'` : String(value)));
    const expected = shown.length < 2 ? shown.join() : `${shown.slice(0, -1).join(', ')} or ${shown.at(-1)}`;
    return { msg: `Input should be ${expected}`, type: 'literal_error', ctx: { expected } };
  },
  pattern: ({ pattern }) => ({
    msg: patternMessage(String(pattern)),
    type: 'string_pattern_mismatch',
    ctx: { pattern },
  }),
  minItems: ({ limit }, input) => {
    const actual = Array.isArray(input) ? input.length : 0;
    const msg = `List should have at least ${limit} item${limit === 1 ? '' : 's'} after validation, not ${actual}`;
    return { msg, type: 'too_short', ctx: { field_type: 'List', min_length: limit, actual_length: actual } };
  },
  maxItems: ({ limit }, input) => {
    const actual = Array.isArray(input) ? (LENGTHS.get(input) ?? input.length) : 0;
    const msg = `List should have at most ${limit} items after validation, not ${actual}`;
    return { msg, type: 'too_long', ctx: { field_type: 'List', max_length: limit, actual_length: actual } };
  },
  boolean: () => ({ msg: 'Extra inputs are not permitted', type: 'extra_forbidden' }),
};

/** Lengths of lists whose last items were not kept as they were read. */
const LENGTHS = new WeakMap<readonly unknown[], number>();

/** A list that is refused as too long is so with the length that it was sent with. */
export function noteLength(list: readonly unknown[], length: number): void {
  LENGTHS.set(list, length);
}

function patternMessage(pattern: string): string {
  const integer = integerWords(pattern);
  return integer === null ? `String should match pattern '${pattern}'` : `Input should be ${integer}`;
}

function pathKey(segment: string): string | number {
  const key = segment.replaceAll('~1', '/').replaceAll('~0', '~');
  return /^\d{1,15}$/.test(key) ? Number(key) : key;
}

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<string | number, unknown> | undefined)?.[key], value);
}

/** The input as echoed to the client: numbers, booleans and short texts. */
export function shownInput(input: unknown): unknown {
  if (input === null || typeof input === 'boolean' || typeof input === 'number') return input;
  return typeof input === 'string' && input.length <= INPUT_LENGTH_MAX ? input : undefined;
}
