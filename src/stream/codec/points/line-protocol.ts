import { PointsBySeries, type PointsOfRecord, sortedLabels } from './series-points.ts';

/** Unit of the times. */
type LinePrecision = 'ns' | 'us' | 'ms' | 's';

const MS_OF: Readonly<Record<LinePrecision, number>> = { ns: 1e-6, us: 1e-3, ms: 1, s: 1_000 };

/** Lines of one text that are reported by themselves; the others are counted in a last one. */
const REFUSED_LINES_MAX = 100;

/**
 * Decodes InfluxDB line protocol: `measurement,tag=a field=1.5,other=2i 1767225600000000000`. A field is a series named
 * `measurement_field`, or `measurement` where the field is `value`; tags are its labels. Floats, integers and booleans
 * (as 1 and 0) are values; text is none and is passed over. A line without a time has `nowMs`. A line that cannot be
 * read is refused, the others are used.
 */
export function decodeLineProtocol(
  text: string,
  { precision, nowMs }: { readonly precision: LinePrecision; readonly nowMs: number },
): PointsOfRecord {
  const points = new PointsBySeries();
  let refused = 0;
  let at = 0;
  for (let line = 1; at < text.length; line++) {
    const start = at;
    at = endOfLine(text, start);
    const detail = addLine(points, text.slice(start, at).trim(), MS_OF[precision], nowMs);
    at++;
    if (detail !== null && refused++ < REFUSED_LINES_MAX) points.refuse(null, `line ${line}: ${detail}`);
  }
  if (refused > REFUSED_LINES_MAX) points.refuse(null, `${refused - REFUSED_LINES_MAX} more lines cannot be read`);
  return points.decoded();
}

/** A line ends at a line feed outside of a quoted text; only fields, behind the first blank, are quoted. */
function endOfLine(text: string, start: number): number {
  let [quoted, inFields] = [false, false];
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === BACKSLASH) i++;
    else if (code === SPACE) inFields = true;
    else if (code === QUOTE && inFields) quoted = !quoted;
    else if (code === LINE_FEED && !quoted) return i;
  }
  return text.length;
}

/** @returns why the line cannot be read; null: it was. */
function addLine(points: PointsBySeries, line: string, msOf: number, nowMs: number): string | null {
  if (line === '' || line.startsWith('#')) return null;
  const keyEnd = endOf(line, 0, SPACE, false);
  const fieldsEnd = endOf(line, keyEnd + 1, SPACE, true);
  const [key, fields, time] = [
    line.slice(0, keyEnd),
    line.slice(keyEnd + 1, fieldsEnd),
    line.slice(fieldsEnd + 1).trim(),
  ];
  if (fields === '') return 'there are no fields: measurement,tag=value field=1 time was expected';
  if (time !== '' && !/^-?\d{1,20}$/.test(time))
    return `the time is ${JSON.stringify(time.slice(0, 40))}, not an integer`;
  const [measurement, ...tags] = split(key, COMMA, false);
  const pairs = tags.map((tag) => pairOf(tag));
  if (measurement === '' || pairs.includes(null)) return 'a tag is not name=value';
  const labels = sortedLabels(pairs.filter((pair) => pair !== null));
  const timestampMs = time === '' ? nowMs : Math.round(Number(time) * msOf);
  for (const field of split(fields, COMMA, true)) {
    const pair = pairOf(field, false);
    if (pair === null) return 'a field is not name=value';
    const value = fieldValue(pair[1]);
    if (value === null)
      return `the field ${pair[0]} is ${JSON.stringify(pair[1].slice(0, 40))}, no value of line protocol`;
    if (value === 'text') continue;
    const name = pair[0] === 'value' ? unescaped(measurement) : `${unescaped(measurement)}_${pair[0]}`;
    const series = points.open(name, labels);
    if (series !== null) points.add(series, timestampMs, value);
  }
  return null;
}

const [BACKSLASH, QUOTE, LINE_FEED, SPACE, COMMA, EQUALS] = [92, 34, 10, 32, 44, 61];

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

function pairOf(text: string, withText = true): readonly [string, string] | null {
  const at = endOf(text, 0, EQUALS, false);
  if (at === 0 || at >= text.length - 1) return null;
  const value = text.slice(at + 1);
  return [unescaped(text.slice(0, at)), withText ? unescaped(value) : value];
}

function unescaped(text: string): string {
  return text.includes('\\') ? text.replace(/\\([,= ])/g, '$1') : text;
}

const FLOAT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const INTEGER = /^[+-]?\d+[iu]$/;

function fieldValue(text: string): number | 'text' | null {
  if (FLOAT.test(text)) return Number(text);
  if (INTEGER.test(text)) return Number(text.slice(0, -1));
  if (/^(?:t|T|true|True|TRUE)$/.test(text)) return 1;
  if (/^(?:f|F|false|False|FALSE)$/.test(text)) return 0;
  return text.length >= 2 && text.startsWith('"') && text.endsWith('"') ? 'text' : null;
}
