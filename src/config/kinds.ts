/**
 * The kind of a setting: how problems name it, and how it is parsed from text (environment, flags) and from YAML.
 * Both parsers return undefined for an invalid value. Nothing is coerced: in YAML the text "24" is no integer.
 */
export interface Kind<T> {
  readonly expected: string;
  readonly fromText: (text: string) => T | undefined;
  readonly fromValue: (value: unknown) => T | undefined;
}

export function integerFrom(min: number, max: number): Kind<number> {
  const accept = (value: number) => (Number.isInteger(value) && value >= min && value <= max ? value : undefined);
  return {
    expected: `an integer from ${min} to ${max}`,
    fromText: (text) => (/^-?\d{1,15}$/.test(text) ? accept(Number(text)) : undefined),
    fromValue: (value) => (typeof value === 'number' ? accept(value) : undefined),
  };
}

/** A number in [min, max]. */
export function numberFrom(min: number, max: number): Kind<number> {
  const accept = (value: number) => (value >= min && value <= max ? value : undefined);
  return {
    expected: min === 0 ? 'a number of at least 0' : 'a number',
    fromText: (text) => (/^-?\d+(\.\d+)?$/.test(text) ? accept(Number(text)) : undefined),
    fromValue: (value) => (typeof value === 'number' ? accept(value) : undefined),
  };
}

/** A number in [min, below). */
export function numberBelow(min: number, below: number): Kind<number> {
  const accept = (value: number) => (value >= min && value < below ? value : undefined);
  return {
    expected: `a number of at least ${min} and below ${below}`,
    fromText: (text) => (/^-?\d+(\.\d+)?$/.test(text) ? accept(Number(text)) : undefined),
    fromValue: (value) => (typeof value === 'number' ? accept(value) : undefined),
  };
}

export function oneOf<const T extends string>(...choices: readonly T[]): Kind<T> {
  const accept = (value: unknown) => choices.find((choice) => choice === value);
  return { expected: listed(choices), fromText: accept, fromValue: accept };
}

export const boolean: Kind<boolean> = {
  expected: 'true or false',
  fromText: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
  fromValue: (value) => (typeof value === 'boolean' ? value : undefined),
};

/** Text that `read` can parse; it returns undefined where it cannot. */
export function textOf<T>(expected: string, read: (text: string) => T | undefined): Kind<T> {
  return { expected, fromText: read, fromValue: (value) => (typeof value === 'string' ? read(value) : undefined) };
}

export function textMatching(expected: string, pattern: RegExp): Kind<string> {
  return textOf(expected, (text) => (pattern.test(text) ? text : undefined));
}

export const text = textMatching('text that is not empty', /\S/);

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

const UNIT_MS = { ms: 1, s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A duration as `500ms`, `30s`, `5min`, `2h` or `1d`; read as milliseconds. */
export const durationMs: Kind<number> = textOf('a duration such as 30s, 5min, 2h or 1d', (value) => {
  const match = /^(\d{1,9})(ms|s|min|h|d)$/.exec(value);
  return match === null ? undefined : Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS];
});

/** `a, b or c`. */
function listed(choices: readonly string[]): string {
  return choices.length < 2 ? choices.join() : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
}
