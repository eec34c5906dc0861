/** Matches what any of these globs matches: `*` is any run of characters, `?` is one character. */
export function globPattern(globs: readonly string[]): RegExp {
  const sources = globs.map((glob) =>
    glob
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replace(/\*+/g, '.*')
      .replace(/\?/g, '.'),
  );
  return new RegExp(`^(?:${sources.join('|')})$`, 'su');
}
