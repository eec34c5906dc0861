import type { ReceivedPoints } from '../../records/received-points.ts';
import { type LabelledSeries, type SeriesLabels, sortedLabels } from '../../records/series/series-id.ts';
import { lowOf } from '../observations/read-extras.ts';
import { SeriesNames } from './series-names.ts';
import { PointsBySeries, type PointsOfRecord } from './series-points.ts';

const MS_OF: Readonly<Record<ReceivedPoints['precision'], number>> = {
  ns: 1e-6,
  us: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

interface LineReading {
  /** Unit of the times. */
  readonly precision: ReceivedPoints['precision'];
  /** The time of lines that have none. */
  readonly nowMs: number;
  readonly names?: SeriesNames;
}

/**
 * Decodes InfluxDB line protocol: `measurement,tag=a field=1.5,other=2i 1767225600000000000`. A field is a series named
 * `measurement_field`, or `measurement` where the field is `value`; tags are its labels. Floats, integers and booleans
 * (as 1 and 0) are values; text is none and is passed over. A line without a time has `nowMs`. A line that cannot be
 * read is refused, the others are used.
 */
export function decodeLineProtocol(
  text: string,
  { precision, nowMs, names = new SeriesNames() }: LineReading,
): PointsOfRecord {
  const points = new PointsBySeries();
  const reading = { points, names, msOf: MS_OF[precision], nowMs };
  const [quotes, backslashes] = [new NextOf(text, '"'), new NextOf(text, '\\')];
  let at = 0;
  try {
    for (let line = 1; at < text.length; line++) {
      const start = at;
      const lineFeed = text.indexOf('\n', start);
      at = lineFeed === -1 ? text.length : lineFeed;
      const isPlain = quotes.from(start) >= at && backslashes.from(start) >= at;
      if (!isPlain) at = endOfLine(text, start);
      const detail = addLine(reading, text.slice(start, at).trim(), isPlain);
      at++;
      if (detail !== null) points.refuse(`line ${line}: ${detail}`);
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { kind: 'unreadable', detail: error.message };
  }
  return points.decoded();
}

/** The next place of a character, found once for all places before it. */
class NextOf {
  readonly #text: string;
  readonly #character: string;
  #at = -1;

  constructor(text: string, character: string) {
    this.#text = text;
    this.#character = character;
  }

  from(start: number): number {
    if (this.#at < start) {
      const at = this.#text.indexOf(this.#character, start);
      this.#at = at === -1 ? this.#text.length : at;
    }
    return this.#at;
  }
}

/** A line ends at a line feed outside of a quoted text; only fields, behind the first blank, are quoted. */
function endOfLine(text: string, start: number): number {
  const isComment = text[start] === '#';
  let [quoted, inFields] = [false, false];
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === LINE_FEED && !quoted) return i;
    if (isComment) continue;
    if (code === BACKSLASH) i++;
    else if (code === SPACE) inFields = true;
    else if (code === QUOTE && inFields) quoted = !quoted;
  }
  return text.length;
}

interface OpenReading {
  readonly points: PointsBySeries;
  readonly names: SeriesNames;
  readonly msOf: number;
  readonly nowMs: number;
}

/**
 * @param isPlain nothing in it is quoted or escaped
 * @returns why the line cannot be read; null: it was.
 */
function addLine({ points, names, msOf, nowMs }: OpenReading, line: string, isPlain: boolean): string | null {
  if (line === '' || line.startsWith('#')) return null;
  const keyEnd = isPlain ? indexOrEnd(line, ' ', 0) : endOf(line, 0, SPACE, false);
  let fieldsAt = keyEnd + 1;
  while (line.charCodeAt(fieldsAt) === SPACE) fieldsAt++;
  const fieldsEnd = isPlain ? indexOrEnd(line, ' ', fieldsAt) : endOf(line, fieldsAt, SPACE, true);
  const key = line.slice(0, keyEnd);
  const fields = line.slice(fieldsAt, fieldsEnd);
  const time = line.slice(fieldsEnd + 1).trim();
  if (fields === '') return 'there are no fields: measurement,tag=value field=1 time was expected';
  if (time !== '' && !TIME.test(time)) return `the time is ${JSON.stringify(time.slice(0, 40))}, not an integer`;
  const scope = names.scope(key);
  const measured = scope.size > 0 ? null : readKey(key);
  if (measured === 'unreadable') return 'a tag is not name=value';
  const found: (readonly [field: string, value: number, integer: string | null])[] = [];
  for (const field of isPlain ? fields.split(',') : split(fields, COMMA, true)) {
    const pair = pairOf(field, { isPlain, isField: true });
    if (pair === null) return 'a field is not name=value';
    const value = fieldValue(pair[1]);
    if (value === null) {
      return `the field ${pair[0].slice(0, 200)} is ${JSON.stringify(pair[1].slice(0, 40))}, no value of line protocol`;
    }
    if (value !== 'text') found.push([pair[0], value, Number.isSafeInteger(value) ? null : pair[1]]);
  }
  const timestampMs = time === '' ? nowMs : Math.round(Number(time) * msOf);
  for (const [field, value, integer] of found) {
    const low = integer === null || !INTEGER.test(integer) ? 0 : lowOf(integer.slice(0, -1));
    const series = names.find(scope, field, () => seriesOf(key, field));
    points.add(series, timestampMs, value, low === 0 ? undefined : { low });
  }
  return null;
}

/** @param key measurement and tags as they are written */
function seriesOf(key: string, field: string): LabelledSeries {
  const read = readKey(key);
  if (read === 'unreadable') throw new TypeError('tags were read before');
  return { name: field === 'value' ? read.measurement : `${read.measurement}_${field}`, labels: read.labels };
}

function readKey(key: string): { readonly measurement: string; readonly labels: SeriesLabels } | 'unreadable' {
  const [measurement, ...tags] = split(key, COMMA, false);
  const pairs = tags.map((tag) => pairOf(tag, { isPlain: false, isField: false }));
  const labels = pairs.filter((pair) => pair !== null);
  if (measurement === '' || labels.length < pairs.length) return 'unreadable';
  return { measurement: unescaped(measurement), labels: sortedLabels(labels) };
}

const [BACKSLASH, QUOTE, LINE_FEED, SPACE, COMMA, EQUALS] = [92, 34, 10, 32, 44, 61];
const TIME = /^-?\d{1,20}$/;

function indexOrEnd(line: string, character: string, start: number): number {
  const at = line.indexOf(character, start);
  return at === -1 ? line.length : at;
}

/** The place of an unescaped character, outside of a quoted text where there may be one; or the end. */
function endOf(line: string, start: number, code: number, mayQuote: boolean): number {
  let quoted = false;
  for (let i = start; i < line.length; i++) {
    const each = line.charCodeAt(i);
    if (each === BACKSLASH) i++;
    else if (each === QUOTE && mayQuote) quoted = !quoted;
    else if (each === code && !quoted) return i;
  }
  return line.length;
}

function split(line: string, code: number, mayQuote: boolean): string[] {
  const parts: string[] = [];
  for (let start = 0; start <= line.length; ) {
    const end = endOf(line, start, code, mayQuote);
    parts.push(line.slice(start, end));
    start = end + 1;
  }
  return parts;
}

/** The value of a field stays as it is: a text is quoted. A tag may have none, which is no label. */
function pairOf(
  text: string,
  { isPlain, isField }: { readonly isPlain: boolean; readonly isField: boolean },
): readonly [string, string] | null {
  const at = isPlain ? indexOrEnd(text, '=', 0) : endOf(text, 0, EQUALS, false);
  if (at === 0 || at >= text.length - (isField ? 1 : 0)) return null;
  const [name, value] = [text.slice(0, at), text.slice(at + 1)];
  return isPlain ? [name, value] : [unescaped(name), isField ? value : unescaped(value)];
}

function unescaped(text: string): string {
  return text.includes('\\') ? text.replace(/\\([,= ])/g, '$1') : text;
}

const FLOAT = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
/** Missing values, as in the other formats. */
const NOT_FINITE = /^(?:nan|[+-]?inf)$/i;
const INTEGER = /^[+-]?\d+[iu]$/;

function fieldValue(text: string): number | 'text' | null {
  if (FLOAT.test(text)) return Number(text);
  if (NOT_FINITE.test(text)) return Number.NaN;
  if (INTEGER.test(text)) return Number(text.slice(0, -1));
  if (/^(?:t|T|true|True|TRUE)$/.test(text)) return 1;
  if (/^(?:f|F|false|False|FALSE)$/.test(text)) return 0;
  return text.length >= 2 && text.startsWith('"') && text.endsWith('"') ? 'text' : null;
}
