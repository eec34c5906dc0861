/** The ids of series that come with a name and labels, and back. */

/** Name and value of each label, sorted by name, without the name of the metric. */
export type SeriesLabels = readonly (readonly [name: string, value: string])[];

export interface LabelledSeries {
  readonly name: string;
  readonly labels: SeriesLabels;
}

export const NAME_LABEL = '__name__';

/** Characters that end or quote a part of an id. Names of metrics with one of these are written in quotes. */
const UNPLAIN_NAME = /[{}"\\\n]/;
const UNPLAIN_LABEL = /[{}"\\\n=,!~\s]/;
const UNPLAIN_VALUE = /["\\\n]/;

const BY_NAME = ([a]: readonly [string, string], [b]: readonly [string, string]) => (a < b ? -1 : a > b ? 1 : 0);

/** Labels in their canonical order. An empty value is the same as no label, as in Prometheus. */
export function sortedLabels(labels: Iterable<readonly [string, string]>): SeriesLabels {
  return [...labels].filter(([, value]) => value !== '').sort(BY_NAME);
}

/**
 * `up{instance="a:9100",job="node"}`: what PromQL shows. Two series are one where their ids are equal. A name that is
 * no plain word is quoted, as in Prometheus 3: `{"strange{name",job="node"}`. An empty name is omitted:
 * `{job="node"}` is what several series have in common.
 */
export function canonicalId(name: string, labels: SeriesLabels): string {
  const isPlain = !UNPLAIN_NAME.test(name);
  if (labels.length === 0 && isPlain) return name;
  let id = isPlain ? `${name}{` : `{${inQuotes(name)}`;
  for (const [i, [label, value]] of labels.entries()) {
    if (i > 0 || !isPlain) id += ',';
    id += `${labelText(label)}=${inQuotes(value)}`;
  }
  return `${id}}`;
}

/** The name of a label as written in an id. */
export function labelText(label: string): string {
  return UNPLAIN_LABEL.test(label) || label === '' ? inQuotes(label) : label;
}

function inQuotes(text: string): string {
  if (!UNPLAIN_VALUE.test(text)) return `"${text}"`;
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}

/**
 * Name and labels of a series by its id. An id that `canonicalId` does not write, such as one of a producer's own, is
 * a name without labels; labels in another order are accepted.
 */
export function seriesOfId(id: string): LabelledSeries {
  return readId(id) ?? { name: id, labels: [] };
}

/** All labels of a series by their names, the name of the metric as `__name__`. */
export function labelsOfId(id: string): Readonly<Record<string, string>> {
  const { name, labels } = seriesOfId(id);
  // Whatever its name, each becomes a property of its own.
  return Object.fromEntries(name === '' ? labels : [[NAME_LABEL, name], ...labels]);
}

/** As `labelsOfId`, but nothing where the id is a name alone: the labels that an event has. */
export function shownLabels(id: string): Readonly<Record<string, string>> {
  return seriesOfId(id).labels.length === 0 ? {} : labelsOfId(id);
}

function readId(id: string): LabelledSeries | null {
  const brace = id.indexOf('{');
  if (brace === -1 || !id.endsWith('}')) return null;
  let name = id.slice(0, brace);
  let at = brace + 1;
  const quoted = brace === 0 ? readQuoted(id, at) : null;
  if (quoted !== null && (id[quoted.end] === ',' || quoted.end === id.length - 1)) {
    name = quoted.text;
    at = Math.min(quoted.end + 1, id.length - 1);
  } else if (UNPLAIN_NAME.test(name)) return null;
  const labels: [string, string][] = [];
  while (at < id.length - 1) {
    const pair = readPair(id, at);
    if (pair === null) return null;
    labels.push([pair.label, pair.value]);
    at = pair.end;
    if (id[at] === ',' && at + 1 < id.length - 1) at++;
    else if (at !== id.length - 1) return null;
  }
  const sorted = sortedLabels(labels);
  const isTwice = sorted.some(([label], i) => label === NAME_LABEL || (i > 0 && sorted[i - 1][0] === label));
  return isTwice ? null : { name, labels: sorted };
}

function readPair(id: string, at: number): { label: string; value: string; end: number } | null {
  const quoted = id[at] === '"' ? readQuoted(id, at) : null;
  if (id[at] === '"' && quoted === null) return null;
  const equals = quoted?.end ?? id.indexOf('=', at);
  const label = quoted?.text ?? id.slice(at, equals);
  if (id[equals] !== '=' || (quoted === null && (label === '' || UNPLAIN_LABEL.test(label)))) return null;
  const value = readQuoted(id, equals + 1);
  return value === null ? null : { label, value: value.text, end: value.end };
}

/**
 * The text in quotes at a place, and where it ends; null if there is none.
 * @param lenient a backslash that escapes nothing is itself
 */
export function readQuoted(
  text: string,
  at: number,
  { quote = '"', lenient = false } = {},
): { readonly text: string; readonly end: number } | null {
  if (text[at] !== quote) return null;
  let read = '';
  let from = at + 1;
  for (let i = from; i < text.length; i++) {
    if (text[i] === quote) return { text: read + text.slice(from, i), end: i + 1 };
    if (text[i] !== '\\') continue;
    const escaped = ESCAPES[text[i + 1] ?? ''];
    if (escaped === undefined && !lenient) return null;
    if (escaped === undefined) continue;
    read += text.slice(from, i) + escaped;
    from = i + 2;
    i++;
  }
  return null;
}

const ESCAPES: Readonly<Record<string, string | undefined>> = { '"': '"', "'": "'", '\\': '\\', n: '\n' };
