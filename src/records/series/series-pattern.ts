import { globPattern } from './glob.ts';
import { compileMatchers, type LabelMatcher, type LabelValues, parseMatchers } from './label-matcher.ts';
import { labelsOfId } from './series-id.ts';

/** A selection of series, in the form that every setting, command and query accepts. */
export interface SeriesPattern {
  /** @param labels those of the series; by default what its id shows */
  test(series: string, labels?: LabelValues | null): boolean;
}

export type ReadPattern =
  | { readonly kind: 'glob'; readonly glob: string }
  | { readonly kind: 'matchers'; readonly matchers: readonly LabelMatcher[] }
  | { readonly kind: 'problem'; readonly problem: string };

/** Matchers where the text begins with a brace; every other text is a glob over ids. */
export function readPattern(text: string): ReadPattern {
  return text.trimStart().startsWith('{') ? parseMatchers(text) : { kind: 'glob', glob: text };
}

/** The problem of a text; null: it can be used. */
export function patternProblem(text: string): string | null {
  const read = readPattern(text);
  return read.kind === 'problem' ? read.problem : null;
}

/** Matches what any of these globs and matchers matches. Throws a RangeError for what `patternProblem` refuses. */
export function seriesPattern(texts: readonly string[]): SeriesPattern {
  const read = texts.map(readPattern);
  const globs = globPattern(read.flatMap((one) => (one.kind === 'glob' ? [one.glob] : [])));
  const matchers = read.flatMap((one) => {
    if (one.kind === 'problem') throw new RangeError(one.problem);
    return one.kind === 'matchers' ? [compileMatchers(one.matchers)] : [];
  });
  return {
    test(series, labels = null) {
      if (globs.test(series)) return true;
      if (matchers.length === 0) return false;
      const known = labels ?? labelsOfId(series);
      return matchers.some((match) => match(known));
    },
  };
}
