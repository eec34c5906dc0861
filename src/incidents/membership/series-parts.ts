import { NAME_LABEL, seriesOfId } from '../../series/series-id.ts';

/** What a series has in common with others: labels, or parts of its name. */
export interface SeriesParts {
  /** What is measured: the name of the metric, or the last part of the name; null where it has one part. */
  readonly metric: string | null;
  /** Value of each dimension: labels by their names; parts of a name by their depth, with all before them. */
  readonly dimensions: readonly SeriesDimension[];
}

export interface SeriesDimension {
  readonly name: string;
  readonly value: string;
}

/** What separates the parts of a name: the first of these that it has. */
const SEPARATORS = ['/', '.', ':'] as const;
/** Labels and parts of one series that are looked at. */
const DIMENSIONS_MAX = 12;
/** Dimensions of names without labels. No label is named so. */
const DEPTH = 'depth ';
/** What a metric is shared by. */
export const METRIC = '\u0000metric\u0000';

/** @param labels of the detector, which count where the series has no label of that name */
export function partsOf(series: string, labels: Readonly<Record<string, string>>): SeriesParts {
  const { name, labels: own } = seriesOfId(series);
  if (own.length > 0) {
    const given = Object.entries(labels).filter(([label]) => !own.some(([each]) => each === label));
    const dimensions = [...own, ...given].map(([label, value]) => ({ name: label, value: `${label}=${value}` }));
    return { metric: name, dimensions: dimensions.slice(0, DIMENSIONS_MAX) };
  }
  const { [NAME_LABEL]: metric, ...others } = labels;
  const dimensions = Object.entries(others).map(([label, value]) => ({ name: label, value: `${label}=${value}` }));
  const separator = SEPARATORS.find((each) => series.includes(each));
  if (separator === undefined) return { metric: metric ?? null, dimensions: dimensions.slice(0, DIMENSIONS_MAX) };
  const parts = series.split(separator);
  const prefixes = parts.slice(0, -1).map((_, i) => {
    return { name: `${DEPTH}${i}`, value: parts.slice(0, i + 1).join(separator) };
  });
  // The deepest ones say most.
  return {
    metric: metric ?? parts.at(-1)!,
    dimensions: [...prefixes.reverse(), ...dimensions].slice(0, DIMENSIONS_MAX),
  };
}

/** Keys of everything that may be shared: dimensions and the metric. */
export function sharedContexts({ metric, dimensions }: SeriesParts): readonly string[] {
  const contexts = dimensions.map(({ name, value }) => `${name}\u0000${value}`);
  return metric === null ? contexts : [...contexts, `${METRIC}${metric}`];
}

/** The dimension of a context; null for a metric. */
export function dimensionOf(context: string): string | null {
  const end = context.indexOf('\u0000');
  return end === -1 || context.startsWith(METRIC) ? null : context.slice(0, end);
}
