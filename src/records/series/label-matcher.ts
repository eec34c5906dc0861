import { ANY, type GlobPart, partsPattern, RUN, type TextPattern } from './glob.ts';
import { readQuoted } from './series-id.ts';

export const MATCH_OPERATORS = ['=', '!=', '=~', '!~'] as const;
type MatchOperator = (typeof MATCH_OPERATORS)[number];

export interface LabelMatcher {
  readonly label: string;
  readonly operator: MatchOperator;
  /** As it is written. */
  readonly value: string;
  /** Alternatives; a `=` or `!=` has one. */
  readonly alternatives: readonly (readonly GlobPart[])[];
}

type LabelMatchers =
  | { readonly kind: 'matchers'; readonly matchers: readonly LabelMatcher[] }
  | { readonly kind: 'problem'; readonly problem: string };

/** Length of a text of matchers, in characters. */
const MATCHERS_LENGTH_MAX = 4_096;
const EXPECTED = 'matchers such as {__name__="node_load1", job=~"web-.*"}';
/** Patterns that =~ and !~ accept. */
const PATTERN_EXPECTED =
  'alternatives of texts with .* (any run of characters), .+ (at least one) and . (one): "web-.*", "a|b|c", ".+"; ' +
  'escape other characters with a meaning in regular expressions by a backslash';

const WORD = /^[^{}"'\\\s=,!~]+/;
const OPERATOR = /^(?:=~|!~|!=|=)/;

/** Reads `{label="value", other=~"a|b-.*"}`. A name in quotes alone is the name of the metric, as in Prometheus 3. */
export function parseMatchers(text: string): LabelMatchers {
  if (text.length > MATCHERS_LENGTH_MAX) {
    return { kind: 'problem', problem: `${EXPECTED}, of at most ${MATCHERS_LENGTH_MAX} characters` };
  }
  // No id has such a character, and no database takes it.
  if (text.includes('\0') || !text.isWellFormed()) return { kind: 'problem', problem: `${EXPECTED}, in valid Unicode` };
  const body = text.trim();
  if (!body.startsWith('{') || !body.endsWith('}')) return problem('braces around the matchers', body, 0);
  const matchers: LabelMatcher[] = [];
  let at = skipBlanks(body, 1);
  while (at < body.length - 1) {
    const read = readMatcher(body, at);
    if ('problem' in read) return { kind: 'problem', problem: read.problem };
    matchers.push(read.matcher);
    at = skipBlanks(body, read.end);
    if (body[at] === ',') at = skipBlanks(body, at + 1);
    else if (at !== body.length - 1) return problem('a comma, or the closing brace', body, at);
  }
  if (matchers.length === 0) return problem('at least one matcher', body, 1);
  return { kind: 'matchers', matchers };
}

function problem(wanted: string, text: string, at: number): { readonly kind: 'problem'; readonly problem: string } {
  const found = text.slice(at, at + 20);
  return { kind: 'problem', problem: `${EXPECTED}, with ${wanted} at ${JSON.stringify(found)}` };
}

type ReadMatcher = { readonly matcher: LabelMatcher; readonly end: number } | { readonly problem: string };

function readMatcher(text: string, start: number): ReadMatcher {
  const quoted = quotedAt(text, start);
  const label = quoted?.text ?? WORD.exec(text.slice(start))?.[0];
  if (label === undefined || label === '') return problem('the name of a label', text, start);
  const at = skipBlanks(text, quoted?.end ?? start + label.length);
  if (quoted !== null && (text[at] === ',' || at === text.length - 1)) {
    return { matcher: { label: '__name__', operator: '=', value: label, alternatives: [[...label]] }, end: at };
  }
  const operator = OPERATOR.exec(text.slice(at, at + 2))?.[0] as MatchOperator | undefined;
  if (operator === undefined) return problem('=, !=, =~ or !~', text, at);
  const from = skipBlanks(text, at + operator.length);
  const value = quotedAt(text, from);
  if (value === null) return problem('a value in quotes', text, from);
  const isPattern = operator === '=~' || operator === '!~';
  const alternatives = isPattern ? parsePattern(value.text) : [[...value.text]];
  if (typeof alternatives === 'string') {
    const at = `${label}${operator}${JSON.stringify(value.text)} has ${JSON.stringify(alternatives)}`;
    return { problem: `${EXPECTED}, where ${operator} takes ${PATTERN_EXPECTED}: ${at}` };
  }
  return { matcher: { label, operator, value: value.text, alternatives }, end: value.end };
}

function quotedAt(text: string, at: number): ReturnType<typeof readQuoted> {
  return readQuoted(text, at, { lenient: true }) ?? readQuoted(text, at, { quote: "'", lenient: true });
}

function skipBlanks(text: string, start: number): number {
  let at = start;
  while (at < text.length && /\s/.test(text[at])) at++;
  return at;
}

const META = new Set('.*+?()[]{}^$|\\');

/** The alternatives of a pattern; a text is what it must not have. */
function parsePattern(pattern: string): GlobPart[][] | string {
  const letters = [...pattern];
  const alternatives: GlobPart[][] = [[]];
  for (let i = 0; i < letters.length; i++) {
    const parts = alternatives.at(-1)!;
    const [letter, next] = [letters[i], letters[i + 1]];
    if (letter === '|') alternatives.push([]);
    else if (letter === '.' && next === '*') {
      if (parts.at(-1) !== RUN) parts.push(RUN);
      i++;
    } else if (letter === '.' && next === '+') {
      parts.push(ANY, RUN);
      i++;
    } else if (letter === '.') parts.push(ANY);
    else if (letter === '\\') {
      if (next === undefined || /[\p{L}\p{N}]/u.test(next)) return `\\${next ?? ''}`;
      parts.push(next);
      i++;
    } else if (META.has(letter)) return letter;
    else parts.push(letter);
    if (letter !== '|' && letters[i + 1] !== undefined && '*+?{'.includes(letters[i + 1])) return letters[i + 1];
  }
  return alternatives;
}

/** The value of a label, by name; undefined is the same as an empty value. */
export type LabelValues = Readonly<Record<string, string>>;

/** True if all matchers hold. A series without a label has the empty value, as in Prometheus. */
export function compileMatchers(matchers: readonly LabelMatcher[]): (labels: LabelValues) => boolean {
  const compiled = matchers.map(({ label, operator, alternatives }) => {
    return { label, wanted: !operator.startsWith('!'), pattern: alternativesPattern(alternatives) };
  });
  return (labels) =>
    compiled.every(({ label, wanted, pattern }) => {
      return pattern.test(Object.hasOwn(labels, label) ? labels[label] : '') === wanted;
    });
}

/** Alternatives without a part that varies are looked up. */
function alternativesPattern(alternatives: readonly (readonly GlobPart[])[]): TextPattern {
  const isText = (parts: readonly GlobPart[]) => parts.every((part) => typeof part === 'string');
  const texts = new Set(alternatives.filter(isText).map((parts) => parts.join('')));
  const others = partsPattern(alternatives.filter((parts) => !isText(parts)));
  return { test: (text) => texts.has(text) || others.test(text) };
}
