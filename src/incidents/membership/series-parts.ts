import { NAME_LABEL, seriesOfId } from '../../records/series/series-id.ts';

/** Labels, or parts of its name, that a series may share with others. */
export interface SeriesParts {
  /** Name of the metric, or the last part of the name; null if it has one part. */
  readonly metric: string | null;
  /** Value of each dimension: labels by their names; parts of a name by their depth, with all before them. */
  readonly dimensions: readonly SeriesDimension[];
}

interface SeriesDimension {
  readonly name: string;
  readonly value: string;
}

/** Separators of the parts of a name: the first of these that it has. */
export const NAME_SEPARATORS = ['/', '.', ':'] as const;
/** Labels and parts of one series that are considered. */
const DIMENSIONS_MAX = 12;
/** Dimensions of names without labels. No label is named so. */
const DEPTH = 'depth ';
export const METRIC = '\u0000metric\u0000';

/** Labels that the id of a series does not show. */
interface SeriesLabelSets {
  /** Labels of its detector, which count if the series has no label of that name. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Its own labels, which the id may hide. */
  readonly seriesLabels?: Readonly<Record<string, string>>;
}

export function partsOf(series: string, { labels = {}, seriesLabels = {} }: SeriesLabelSets = {}): SeriesParts {
  const { name, labels: inId } = seriesOfId(series);
  const own = { ...seriesLabels, ...Object.fromEntries(inId) };
  const { [NAME_LABEL]: named = null, ...others } = { ...own, ...labels, ...own };
  const labelled = Object.entries(others).map(([label, value]) => labelDimension(label, value));
  // Labels replace the parts of its name.
  const path = Object.keys(own).length > 0 ? { last: null, prefixes: [] } : pathOf(series);
  return {
    metric: inId.length > 0 ? name : (named ?? path.last),
    dimensions: [...path.prefixes, ...labelled].slice(0, DIMENSIONS_MAX),
  };
}

/** The last part of a name, and all that it is within, the deepest first, since it is the most specific. */
function pathOf(series: string): { readonly last: string | null; readonly prefixes: readonly SeriesDimension[] } {
  const places = NAME_SEPARATORS.map((each) => separatorsIn(series, each)).find(({ length }) => length > 0);
  if (places === undefined) return { last: null, prefixes: [] };
  const prefixes = places.map((at, i) => ({ name: `${DEPTH}${i}`, value: series.slice(0, at) }));
  return { last: series.slice(places.at(-1)! + 1), prefixes: prefixes.reverse() };
}

/**
 * Places of a separator between two parts. Several in a row, as in `https://` and `AWS::Lambda`, separate nothing. A
 * URL is one part: services of a cloud share a host, and are no part of it.
 */
export function separatorsIn(name: string, separator: string): readonly number[] {
  const isSeparator = (at: number) => (NAME_SEPARATORS as readonly (string | undefined)[]).includes(name[at]);
  const places: number[] = [];
  const urlAt = name.indexOf('://');
  const from = urlAt === -1 ? 0 : Math.max(name.lastIndexOf('/'), urlAt + 3);
  for (let at = name.indexOf(separator, from); at !== -1; at = name.indexOf(separator, at + 1)) {
    if (at > 0 && at < name.length - 1 && !isSeparator(at - 1) && !isSeparator(at + 1)) places.push(at);
  }
  return places;
}

/** True if a dimension is a part of names, not a label. */
export function isDepth(dimension: string): boolean {
  return dimension.startsWith(DEPTH);
}

/** Keys of everything that may be shared: dimensions and the metric. */
export function sharedContexts({ metric, dimensions }: SeriesParts): readonly string[] {
  const contexts = dimensions.map(contextOf);
  return metric === null ? contexts : [...contexts, `${METRIC}${metric}`];
}

export function labelContext(label: string, value: string): string {
  return contextOf(labelDimension(label, value));
}

function labelDimension(label: string, value: string): SeriesDimension {
  return { name: label, value: `${label}=${value}` };
}

function contextOf({ name, value }: SeriesDimension): string {
  return `${name}\u0000${value}`;
}

/** The dimension of a context; null for what is none, such as a metric. */
export function dimensionOf(context: string): string | null {
  const end = context.indexOf('\u0000');
  return end <= 0 ? null : context.slice(0, end);
}
