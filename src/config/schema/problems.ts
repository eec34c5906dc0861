/**
 * Sentences for problems of the configuration: key, expected value, actual value. Values of secrets must not get here.
 */

/** `KEY must be EXPECTED, got GOT`. */
export function mustBe(key: string, expected: string, got: unknown): string {
  return `${key} must be ${expected}, got ${show(got)}`;
}

/** `NAME is not a known WHAT; did you mean NEAREST?`, without the question when `nearest` is null. */
export function notKnown(name: string, what: string, nearest: string | null): string {
  return `${name} is not a known ${what}${nearest === null ? '' : `; did you mean ${nearest}?`}`;
}

const SHOWN_CHARACTERS_MAX = 80;

/** A value as a problem quotes it: text in quotes, absent values as `nothing`, long ones cut. */
export function show(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  const shown = typeof value === 'number' ? String(value) : JSON.stringify(value);
  return shown.length <= SHOWN_CHARACTERS_MAX ? shown : `${shown.slice(0, SHOWN_CHARACTERS_MAX)}...`;
}

/** The known name nearest to `name`, at most `differMax` letters away (default: a third of its letters). */
export function nearestOf(
  name: string,
  known: readonly string[],
  differMax: number = Math.max(1, Math.floor(name.length / 3)),
): string | null {
  let nearest: string | null = null;
  let distanceMax = differMax;
  for (const candidate of known) {
    const distance = editDistance(name, candidate);
    if (distance > distanceMax) continue;
    nearest = candidate;
    distanceMax = distance - 1;
  }
  return nearest;
}

/** Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const substitution = row[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swap = isSwap ? before[j - 2] + 1 : substitution;
      next.push(Math.min(substitution, swap, row[j] + 1, next[j - 1] + 1));
    }
    [before, row] = [row, next];
  }
  return row[to.length];
}
