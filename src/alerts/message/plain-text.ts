/** Longest value of a field in a message. */
const FIELD_CHARACTERS_MAX = 500;

/** Control characters, and the marks that change the direction of the text around them or cannot be seen. */
const UNSAFE = /[\p{Cc}\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]+/gu;
/** Half of a character: no encoding can carry it. */
const LONE_SURROGATE = /\p{Surrogate}/gu;

/**
 * Text of a stream, such as the name of a series, as one visible line: it must not begin a line, a header or a
 * direction of its own in a message.
 */
export function oneLine(text: string, charactersMax: number = FIELD_CHARACTERS_MAX): string {
  const clean = text.replace(UNSAFE, ' ').replace(LONE_SURROGATE, '\ufffd');
  return cut(clean, charactersMax);
}

/** One line that keeps its beginning and its end: ids of series often differ in the last part only. */
export function oneLineWithEnds(text: string, charactersMax: number): string {
  const line = oneLine(text, Number.POSITIVE_INFINITY);
  if (line.length <= charactersMax) return line;
  const half = (charactersMax - 3) >>> 1;
  return `${cut(line, half + 3)}${line.slice(-half).replace(/^[\udc00-\udfff]/, '')}`;
}

/** Text of a field: long ids of one system often differ at their ends alone. */
export function fieldText(text: string): string {
  return oneLineWithEnds(text, FIELD_CHARACTERS_MAX);
}

/** Text of at most `charactersMax` UTF-16 units, never ending in half a character. */
export function cut(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  return `${text.slice(0, charactersMax - 3).replace(/[\ud800-\udbff]$/, '')}...`;
}
