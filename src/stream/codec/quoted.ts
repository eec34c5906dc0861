/** Characters of a foreign value that a dead letter's detail repeats. */
const QUOTED_CHARS_MAX = 80;

/** A foreign value for a sentence: what it is and how it begins. */
export function quoted(raw: unknown): string {
  if (typeof raw === 'string') return JSON.stringify(clip(raw));
  if (Array.isArray(raw)) return 'an array';
  if (typeof raw === 'object' && raw !== null) return 'an object';
  return clip(String(raw));
}

/** The message of anything thrown, clipped. */
export function reasonOf(error: unknown): string {
  return clip(error instanceof Error ? error.message : String(error), 300);
}

function clip(text: string, charsMax = QUOTED_CHARS_MAX): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax)}...`;
}
