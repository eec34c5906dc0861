import Type, { type TSchema, type TSchemaOptions } from 'typebox';
import { Check } from 'typebox/value';
import { patternProblem } from '../../records/series/series-pattern.ts';
import { portablePattern } from './portable-pattern.ts';
import type { Setting } from './schema.ts';

/**
 * The kind of a setting that is one value: how problems name it, how it is written, and what it becomes. Environment,
 * flags and files of settings have the same kinds. Nothing is coerced: in YAML the text "24" is no integer.
 */
export interface Kind<T> extends Setting<T> {
  /** The value of what is written; undefined if it is invalid. */
  readonly parse: (written: unknown) => T | undefined;
  /** Probable meaning of an invalid text: a sentence without a full stop. */
  readonly hint?: (written: unknown) => string | null;
}

/** @param decode gets only what the schema allows */
function kindOf<W, T>(expected: string, schema: TSchema, decode: (written: W) => T | undefined): Kind<T> {
  const parse = (written: unknown) => (Check(schema, written) ? decode(written as W) : undefined);
  return {
    expected,
    schema,
    parse,
    read(node, place) {
      const value = node.kind === 'scalar' ? parse(node.value) : undefined;
      if (value === undefined) place.mustBe(expected, node);
      return value;
    },
  };
}

const itself = <T>(value: T) => value;

export function integerFrom(min: number, max: number): Kind<number> {
  return kindOf(`an integer from ${min} to ${max}`, Type.Integer({ minimum: min, maximum: max }), itself<number>);
}

export const number: Kind<number> = kindOf('a number', Type.Number(), itself<number>);

export function numberFrom(min: number): Kind<number> {
  return kindOf(`a number of at least ${min}`, Type.Number({ minimum: min }), itself<number>);
}

/** A number in [min, below). */
export function numberBelow(min: number, below: number): Kind<number> {
  const schema = Type.Number({ minimum: min, exclusiveMaximum: below });
  return kindOf(`a number of at least ${min} and below ${below}`, schema, itself<number>);
}

export function oneOf<const T extends string>(...choices: readonly T[]): Kind<T> {
  return kindOf(listed(choices), Type.Enum([...choices]), itself<T>);
}

export const boolean: Kind<boolean> = kindOf('true or false', Type.Boolean(), itself<boolean>);

/**
 * Text that `decode` can read; it returns undefined if it cannot.
 * @param options what its schema can express of that
 */
export function textOf<T>(
  expected: string,
  decode: (text: string) => T | undefined,
  { pattern, ...options }: TSchemaOptions & { readonly pattern?: string } = {},
): Kind<T> {
  const portable = pattern === undefined ? {} : { pattern: portablePattern(pattern) };
  return kindOf(expected, Type.String({ ...options, ...portable }), decode);
}

/** @param options such as `maxLength` */
export function textMatching(expected: string, { source }: RegExp, options: TSchemaOptions = {}): Kind<string> {
  return textOf(expected, itself<string>, { ...options, pattern: source });
}

export const text = textMatching('text that is not empty', /\S/);

const seriesChoice = textOf(
  'a glob over ids of series, or matchers of their labels',
  (written) => (/\S/.test(written) && patternProblem(written) === null ? written : undefined),
  { pattern: '\\S' },
);

export const seriesText: Kind<string> = {
  ...seriesChoice,
  hint: (written) => patternProblem(String(written)),
  read(node, place) {
    const written = text.read(node, place);
    const problem = written === undefined ? null : patternProblem(written);
    if (problem !== null) place.report(`${place.path} must be ${problem}`);
    return problem === null ? written : undefined;
  },
};

/** A word instead of a value of another kind: `all`, `off`. */
export function wordOr<const W extends string, T>(word: W, kind: Kind<T>): Kind<W | T> {
  return kindOf<unknown, W | T>(
    `${word} or ${kind.expected}`,
    Type.Union([Type.Literal(word), kind.schema]),
    (written) => (written === word ? word : kind.parse(written)),
  );
}

/** A name of a detector, a route, a receiver. */
export const entryName = textMatching('1 to 64 letters, digits, dots, dashes or underscores', /^[a-zA-Z0-9._-]{1,64}$/);

/** Kafka's rule for topic names. */
export const topicName = textMatching(
  'a topic name: 1 to 249 letters, digits, dots, dashes or underscores',
  // Not `.` and not `..`.
  /^(?:[a-zA-Z0-9_-]|\.[a-zA-Z0-9_-]|\.\.[a-zA-Z0-9._-])[a-zA-Z0-9._-]*$/,
  { maxLength: 249 },
);

const PATH_KEY = `[^.[\\]"'\\s][^.[\\]"']*`;
const PATH_BRACKET = `\\[(?:\\d{1,6}|"(?:[^"\\\\]|\\\\.)+"|'(?:[^'\\\\]|\\\\.)+')\\]`;

/**
 * A path into a record: `value`, `tags.host`, `points[0].value`, `["a.b"].c` where a key holds a dot; each also after
 * `$`.
 */
export const recordPath = textMatching(
  'a path such as value, tags.host or points[0].value',
  new RegExp(`^(?:${PATH_KEY}|\\$\\.${PATH_KEY}|\\$?${PATH_BRACKET})(?:\\.${PATH_KEY}|${PATH_BRACKET})*$`),
);

// `m` and `w` are those of Prometheus.
const UNIT_MS = { ms: 1, s: 1000, min: 60_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const DURATION = /^(\d{1,9})(ms|s|min|m|h|d|w)$/;

/** A duration as `500ms`, `30s`, `5min` or `5m`, `2h`, `1d` or `1w`; read as milliseconds. */
export const durationMs: Kind<number> = textOf(
  'a duration such as 30s, 5min, 2h or 1d',
  (value) => {
    const match = DURATION.exec(value);
    return match === null ? undefined : Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS];
  },
  { pattern: DURATION.source },
);

/** Each part of a list that is separated by commas, in the environment or a flag. */
export function commaList(expected: string, fits: (part: string) => boolean): Kind<readonly string[]> {
  const kind = textOf(`${expected}, separated by commas`, (value) => {
    const parts = value.split(',').map((part) => part.trim());
    return parts.every(fits) ? (parts as readonly string[]) : undefined;
  });
  const hint = (written: unknown) => {
    const parts = String(written)
      .trim()
      .split(/[;|\s,]+/);
    return parts.length > 1 && parts.every(fits) ? `separate them by commas: ${parts.join(',')}` : null;
  };
  return { ...kind, hint };
}

/** The value of a text of the environment or a flag. */
export function parseText<T>({ schema, parse }: Kind<T>, written: string): T | undefined {
  for (const candidate of candidates(schema, written)) {
    const value = parse(candidate);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Types that a text may have in a schema. */
function candidates(schema: TSchema, written: string): readonly unknown[] {
  const { type, anyOf } = schema as { readonly type?: string; readonly anyOf?: readonly TSchema[] };
  if (anyOf !== undefined) return anyOf.flatMap((alternative) => candidates(alternative, written));
  if (type === 'integer') return /^-?\d{1,15}$/.test(written) ? [Number(written)] : [];
  if (type === 'number') return /^-?\d+(\.\d+)?$/.test(written) ? [Number(written)] : [];
  if (type === 'boolean') return ['true', 'false'].includes(written) ? [written === 'true'] : [];
  return [written];
}

/** `a, b or c`. */
function listed(choices: readonly string[]): string {
  return choices.length < 2 ? choices.join() : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
}
