/**
 * Series chosen by a database: regular expressions over ids that match what `SeriesPattern` matches. They have no
 * construct but those that RE2, Postgres and JavaScript share, and are made from globs and matchers alone.
 */
import { ANY, type GlobPart, globParts, RUN } from './glob.ts';
import type { LabelMatcher } from './label-matcher.ts';
import { labelText, NAME_LABEL } from './series-id.ts';
import { readPattern } from './series-pattern.ts';

/** All of them hold; of the alternatives of one, any does. */
type IdConditions = readonly (readonly IdExpression[])[];

interface IdExpression {
  readonly expression: string;
  /** True if ids must match it, or must not. */
  readonly wanted: boolean;
}

/** Matches no text. */
const NOTHING = 'a^';
const LETTER = '(?:[^"\\\\]|\\\\.)';
const QUOTED = `"${LETTER}*"`;
const LABEL = `(?:${QUOTED}|[^"{}=,]+)=${QUOTED}`;
const BEFORE = `^(?:[^"{}]*\\{|\\{${QUOTED},)(?:${LABEL},)*`;
const AFTER = `(?:,${LABEL})*\\}$`;

/** Throws a RangeError for a text that `patternProblem` refuses. */
export function idConditions(text: string): IdConditions {
  const read = readPattern(text);
  if (read.kind === 'problem') throw new RangeError(read.problem);
  if (read.kind === 'matchers') return read.matchers.flatMap(conditionsOf);
  return [[{ expression: `^${expressionOf(globParts(read.glob), escaped, '.')}$`, wanted: true }]];
}

function conditionsOf({ label, operator, alternatives }: LabelMatcher): IdConditions {
  const found = label === NAME_LABEL ? nameExpression(alternatives) : labelExpression(label, alternatives);
  const matchesEmpty = label !== NAME_LABEL && alternatives.some((parts) => parts.every((part) => part === RUN));
  const present = labelExpression(label, [[RUN]]);
  if (operator.startsWith('!')) {
    const other = [{ expression: found, wanted: false }];
    return matchesEmpty ? [other, [{ expression: present, wanted: true }]] : [other];
  }
  const missing = matchesEmpty ? [{ expression: present, wanted: false }] : [];
  return [[{ expression: found, wanted: true }, ...missing]];
}

/** Ids with a label whose value is one of these. */
function labelExpression(label: string, alternatives: readonly (readonly GlobPart[])[]): string {
  return `${BEFORE}${escaped(labelText(label))}="${anyOf(alternatives, quotedLetter, LETTER)}"${AFTER}`;
}

/** A name is not empty. */
function nameExpression(given: readonly (readonly GlobPart[])[]): string {
  const alternatives = given.filter((parts) => parts.length > 0);
  if (alternatives.length === 0) return NOTHING;
  // A name with braces is quoted.
  const unquoted = alternatives.filter((parts) => !parts.includes('{') && !parts.includes('}'));
  const plain = unquoted.length === 0 ? NOTHING : anyOf(unquoted, escaped, '[^{}]');
  const quoted = anyOf(alternatives, quotedLetter, LETTER);
  return `^(?:${plain}(?:\\{.*)?|\\{"${quoted}"(?:,.*)?\\})$`;
}

type LetterExpression = (letter: string) => string;

function anyOf(alternatives: readonly (readonly GlobPart[])[], letter: LetterExpression, any: string): string {
  return `(?:${alternatives.map((parts) => expressionOf(parts, letter, any)).join('|')})`;
}

function expressionOf(parts: readonly GlobPart[], letter: LetterExpression, any: string): string {
  return parts.map((part) => (part === RUN ? `${any}*` : part === ANY ? any : letter(part))).join('');
}

/** A letter as written between the quotes of an id. */
function quotedLetter(letter: string): string {
  return escaped(letter === '\n' ? '\\n' : letter === '"' || letter === '\\' ? `\\${letter}` : letter);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
