/** Whether a text matches. */
export interface TextPattern {
  test(text: string): boolean;
}

/**
 * Matches what any of these globs matches: `*` is any run of characters, `?` is one character. Not a regular
 * expression: several stars would make its time grow with a power of the length. This takes at most length times length
 * of the glob.
 */
export function globPattern(globs: readonly string[]): TextPattern {
  const compiled = globs.map((glob) => [...glob.replace(/\*+/g, '*')]);
  return {
    test(text) {
      const letters = [...text];
      return compiled.some((glob) => matchesGlob(glob, letters));
    },
  };
}

/** Greedy: of all stars only the last one ever has to take more. */
function matchesGlob(glob: readonly string[], letters: readonly string[]): boolean {
  let [at, from] = [0, 0];
  let star = -1;
  for (let i = 0; i < letters.length; ) {
    if (glob[at] === '*') {
      star = at++;
      from = i;
    } else if (at < glob.length && (glob[at] === '?' || glob[at] === letters[i])) {
      at++;
      i++;
    } else if (star >= 0) {
      at = star + 1;
      i = ++from;
    } else return false;
  }
  while (glob[at] === '*') at++;
  return at === glob.length;
}
