/** Most characters of an input value that the detail of a dead letter repeats. */
const QUOTED_CHARS_MAX = 80;

/** Describes an input value in a sentence: its type and its beginning. */
export function quoted(raw: unknown): string {
  if (typeof raw === 'string') return JSON.stringify(clip(raw));
  if (Array.isArray(raw)) return 'an array';
  if (typeof raw === 'object' && raw !== null) return 'an object';
  return clip(String(raw));
}

/** The clipped message of a thrown value. */
export function reasonOf(error: unknown): string {
  return clip(error instanceof Error ? error.message : String(error), 300);
}

function clip(text: string, charsMax = QUOTED_CHARS_MAX): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax)}...`;
}
