import { type ReadPattern, readPattern } from '../series/series-pattern.ts';
import type { Diagnostic } from './diagnostic.ts';

/** Represents every character that is in neither glob. */
const OTHER = '';
/** A comparison that takes more steps finds nothing. */
const STEPS_MAX = 10_000;

/** A glob with its first and last characters that are none of `*` and `?`, or matchers. */
interface ReadGlob {
  readonly text: string;
  readonly pattern: ReadPattern;
  readonly prefix: string;
  readonly suffix: string;
}

/** Globs and matchers that take no series, because one of a detector before theirs takes all of them. */
export function shadowedGlobs(
  detectors: readonly { readonly name: string; readonly series: readonly string[] }[],
): Diagnostic[] {
  const read = detectors.map(({ series }) => series.map(readGlob));
  return detectors.flatMap(({ name: detector }, at) =>
    read[at].flatMap((glob): Diagnostic[] => {
      const by = read.findIndex((globs, earlier) => earlier >= at || globs.some((other) => coversAll(other, glob)));
      return by === at ? [] : [{ kind: 'shadowed', detector, glob: glob.text, by: detectors[by].name }];
    }),
  );
}

function readGlob(text: string): ReadGlob {
  const [[prefix], [suffix]] = [/^[^*?]*/.exec(text)!, /[^*?]*$/.exec(text)!];
  return { text, pattern: readPattern(text), prefix, suffix };
}

/**
 * Globs are compared exactly, if their ends do not distinguish them: there may be thousands of detectors. Matchers
 * are covered by `*`, and by matchers that are all among them: what else they may have in common is not looked for.
 */
function coversAll(outer: ReadGlob, inner: ReadGlob): boolean {
  const [one, other] = [outer.pattern, inner.pattern];
  if (one.kind === 'glob') {
    if (other.kind !== 'glob') return covers(outer.text, '*');
    if (!inner.prefix.startsWith(outer.prefix) || !inner.suffix.endsWith(outer.suffix)) return false;
    return covers(outer.text, inner.text);
  }
  if (one.kind === 'problem' || other.kind !== 'matchers') return false;
  return one.matchers.every((matcher) =>
    other.matchers.some(({ label, operator, value }) => {
      return label === matcher.label && operator === matcher.operator && value === matcher.value;
    }),
  );
}

/** True if every text that `inner` matches is matched by `outer`, too. */
export function covers(outer: string, inner: string): boolean {
  const [outers, inners] = [outer, inner].map((glob) => [...glob.replace(/\*+/g, '*')]);
  const alphabet = [...new Set([...outers, ...inners].filter((letter) => letter !== '*' && letter !== '?')), OTHER];
  const seen = new Set<string>();
  /** A place in `inner`, and every place in `outer` that the same text may have reached. */
  const open: (readonly [number, readonly number[]])[] = [[0, closure(outers, [0])]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [at, places] = next;
    const key = `${at}:${places.join()}`;
    if (seen.has(key)) continue;
    if (seen.add(key).size > STEPS_MAX) return false;
    if (at === inners.length && !places.includes(outers.length)) return false;
    const letter = inners[at];
    if (letter === undefined) continue;
    if (letter === '*') open.push([at + 1, places]);
    for (const read of letter === '*' || letter === '?' ? alphabet : [letter]) {
      open.push([letter === '*' ? at : at + 1, step(outers, places, read)]);
    }
  }
  return true;
}

/** The places after one more character. */
function step(glob: readonly string[], places: readonly number[], read: string): number[] {
  const reached = places.flatMap((at) => {
    if (glob[at] === '*') return [at];
    return at < glob.length && (glob[at] === '?' || glob[at] === read) ? [at + 1] : [];
  });
  return closure(glob, reached);
}

/** A star may take nothing. */
function closure(glob: readonly string[], places: readonly number[]): number[] {
  const all = new Set(places);
  for (const at of all) if (glob[at] === '*') all.add(at + 1);
  return [...all].sort((a, b) => a - b);
}
