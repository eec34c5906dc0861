/**
 * The lines of some keys at the top of a text of YAML, as they are written there, comments among them. A key ends where
 * the next line begins that is neither indented nor the end of a mapping in braces.
 */
export function writtenSections(text: string, keys: readonly string[]): readonly string[] {
  let isWanted = false;
  return text.split(/\r?\n/).filter((line) => {
    const key = /^([\w-]+) *:/.exec(line)?.[1];
    if (key !== undefined) isWanted = keys.includes(key);
    else if (/^[^\s}\]-]/.test(line)) isWanted = false;
    return isWanted && line.trim() !== '';
  });
}
