/** True if a text matches. */
export interface TextPattern {
  test(text: string): boolean;
}

/** A part of a pattern: one character that is itself, any one, or any run of characters. */
export type GlobPart = string | typeof ANY | typeof RUN;
export const ANY = Symbol('any');
export const RUN = Symbol('run');

/**
 * Matches what any of these globs matches: `*` is any run of characters, `?` is one character. Not a regular
 * expression: several stars would make its time grow with a power of the length. This takes at most length times length
 * of the glob.
 */
export function globPattern(globs: readonly string[]): TextPattern {
  return partsPattern(globs.map(globParts));
}

export function globParts(glob: string): GlobPart[] {
  return Array.from(glob.replace(/\*+/g, '*'), partOf);
}

function partOf(letter: string): GlobPart {
  return letter === '*' ? RUN : letter === '?' ? ANY : letter;
}

/** Matches what any of these globs matches. */
export function partsPattern(globs: readonly (readonly GlobPart[])[]): TextPattern {
  return { test: (text) => globs.some((glob) => matchesGlob(glob, text)) };
}

/** Greedy: of all runs only the last one ever has to take more. */
function matchesGlob(glob: readonly GlobPart[], text: string): boolean {
  let [at, from] = [0, 0];
  let run = -1;
  for (let i = 0; i < text.length; ) {
    const part = glob[at];
    const units = text.codePointAt(i)! > 0xffff ? 2 : 1;
    if (part === RUN) {
      if (++at === glob.length) return true;
      [run, from] = [at - 1, i];
    } else if (part === ANY || (part?.length === units && text.startsWith(part, i))) {
      at++;
      i += units;
    } else if (run >= 0) {
      at = run + 1;
      from += text.codePointAt(from)! > 0xffff ? 2 : 1;
      i = from;
    } else return false;
  }
  while (glob[at] === RUN) at++;
  return at === glob.length;
}
