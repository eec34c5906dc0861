const BYTE_ORDER_MARK = '\uFEFF';
/** What UTF-16 begins with, read as UTF-8: the two bytes of its mark are none. */
const UTF_16 = '\uFFFD\uFFFD';

/**
 * A text as a whole, so that nothing in it is replaced; or a number that JSON has no word for. A text that is never
 * closed matches, too: the time stays proportional to the length.
 */
const TEXT_OR_NOT_FINITE = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"?|-?\b(?:NaN|Infinity)\b/g;
/** Stands for NaN in JSON. No id, time or value is this text: it has a NUL. */
const NAN_TEXT = '\0NaN';

/**
 * Parses JSON, also with what common encoders add to it: a byte order mark, and the words NaN, Infinity and -Infinity.
 * These become the numbers that they mean, so that a record with one names its series. Throws a SyntaxError.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (text.startsWith(UTF_16)) throw new SyntaxError('the record is UTF-16: write UTF-8', { cause: error });
    const unmarked = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
    const standard = unmarked.replace(TEXT_OR_NOT_FINITE, standardJson);
    if (standard === text) throw error;
    return JSON.parse(standard, (_, value: unknown) => (value === NAN_TEXT ? Number.NaN : value));
  }
}

function standardJson(token: string): string {
  if (token.startsWith('"')) return token;
  if (token.endsWith('NaN')) return JSON.stringify(NAN_TEXT);
  return token.startsWith('-') ? '-1e999' : '1e999';
}
