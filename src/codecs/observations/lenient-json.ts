const BYTE_ORDER_MARK = '\uFEFF';
/** The start of UTF-16, read as UTF-8: the two bytes of its mark are none. */
const UTF_16 = '\uFFFD\uFFFD';

/**
 * A text as a whole, so that nothing in it is replaced; or a number that JSON has no word for. A text that is never
 * closed matches, too: the time stays proportional to the length.
 */
const TEXT_OR_NOT_FINITE = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"?|-?\b(?:NaN|Infinity)\b/g;
/** The replacement of NaN in JSON. No id, time or value is this text: it has a NUL. */
const NAN_TEXT = '\0NaN';

/** Integers that a number may not hold. More digits than those of 64 bits are no integer of any format. */
const LONG_INTEGER = /[[:,\s]-?\d{16,20}[\s,}\]]/;
const INTEGER = /^-?\d{16,20}$/;

/** JSON with integers beyond 2^53 as bigints. */
export function parseExactly(text: string): unknown {
  return LONG_INTEGER.test(text) ? JSON.parse(text, exactly) : JSON.parse(text);
}

function exactly(_key: string, value: unknown, { source = '' }: { readonly source?: string } = {}): unknown {
  return typeof value === 'number' && !Number.isSafeInteger(value) && INTEGER.test(source) ? BigInt(source) : value;
}

/**
 * Parses JSON, also with what common encoders add to it: a byte order mark, and the words NaN, Infinity and -Infinity.
 * These become the numbers that they mean, so that a record with one names its series. Throws a SyntaxError.
 */
export function parseJson(text: string): unknown {
  try {
    return parseExactly(text);
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
