const [QUOTE, BACKSLASH, COMMA, COLON, OPEN, CLOSE] = [0x22, 0x5c, 0x2c, 0x3a, 0x7b, 0x7d];
const [BLANK, MINUS, DOT, ZERO, NINE] = [0x20, 0x2d, 0x2e, 0x30, 0x39];
/** Integers of so many digits are exact, and so is their quotient by such a power of ten: each rounds once. */
const DIGITS_MAX = 15;
const POWERS = Array.from({ length: DIGITS_MAX + 1 }, (_, power) => 10 ** power);
const WORDS = [
  { bytes: Buffer.from('true'), value: true },
  { bytes: Buffer.from('false'), value: false },
  { bytes: Buffer.from('null'), value: null },
] as const;

/** Bytes that need no escape in a text. */
const IS_PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(byte >= BLANK && byte < 0x7f && byte !== QUOTE && byte !== BACKSLASH),
);

/** The place of the reader, and what it has read there. One serves all records: no allocation for each. */
interface FlatCursor {
  at: number;
  value: unknown;
}

/** Fields of a record by their places; undefined if it has none. It is read for each record. */
export type FlatFields = readonly unknown[];

/**
 * Reads some fields of a JSON object as JSON.parse does, in half of its time. Returns null if the record is anything
 * but one flat object of plain ASCII without escapes, whose named fields are there once at most: then JSON.parse
 * decides what it is.
 * @param exact places of fields that are no integers beyond 2^53, whose digits a number would lose
 */
export function flatJson(
  names: readonly string[],
  exact: readonly number[] = [],
): (bytes: Buffer) => FlatFields | null {
  const keys = names.map((name) => Buffer.from(name));
  const cursor: FlatCursor = { at: 0, value: null };
  const found: unknown[] = names.map(() => undefined);
  return (bytes) => {
    for (let place = 0; place < found.length; place++) found[place] = undefined;
    let at = 0;
    if (bytes[at++] !== OPEN) return null;
    for (;;) {
      if (bytes[at] !== QUOTE) return null;
      const end = endOfText(bytes, at + 1);
      if (end === -1 || bytes[end + 1] !== COLON) return null;
      const place = placeOf(keys, bytes, at + 1, end);
      cursor.at = bytes[end + 2] === BLANK ? end + 3 : end + 2;
      if (!readValue(bytes, cursor, place !== -1)) return null;
      if (place !== -1) {
        if (found[place] !== undefined) return null;
        const { value } = cursor;
        if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER && exact.includes(place))
          return null;
        found[place] = value;
      }
      at = cursor.at;
      const next = bytes[at++];
      if (next === CLOSE) return at === bytes.length ? found : null;
      if (next !== COMMA) return null;
      if (bytes[at] === BLANK) at++;
    }
  };
}

/** The place of the quote that ends a text; -1 where the text is not of plain ASCII. */
function endOfText(bytes: Buffer, start: number): number {
  let at = start;
  // Beyond the end there is nothing: undefined is no place of the table.
  while (IS_PLAIN[bytes[at]] === 1) at++;
  return bytes[at] === QUOTE ? at : -1;
}

function placeOf(keys: readonly Buffer[], bytes: Buffer, start: number, end: number): number {
  for (let place = 0; place < keys.length; place++) {
    const key = keys[place];
    if (key.length === end - start && isAt(key, bytes, start)) return place;
  }
  return -1;
}

function isAt(text: Buffer, bytes: Buffer, start: number): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text[i]) return false;
  return true;
}

/** Reads a text, number or word, and its value where that is `wanted`. Returns false if there is none. */
function readValue(bytes: Buffer, cursor: FlatCursor, wanted: boolean): boolean {
  const start = cursor.at;
  const first = bytes[start];
  if (first === QUOTE) {
    const end = endOfText(bytes, start + 1);
    if (end === -1) return false;
    if (wanted) cursor.value = bytes.toString('latin1', start + 1, end);
    cursor.at = end + 1;
    return true;
  }
  if (first === MINUS || (first >= ZERO && first <= NINE)) return readNumber(bytes, cursor);
  for (const word of WORDS) {
    if (!isAt(word.bytes, bytes, start)) continue;
    cursor.value = word.value;
    cursor.at = start + word.bytes.length;
    return true;
  }
  return false;
}

/** Without an exponent. */
function readNumber(bytes: Buffer, cursor: FlatCursor): boolean {
  const start = cursor.at;
  const isNegative = bytes[start] === MINUS;
  const whole = isNegative ? start + 1 : start;
  let at = whole;
  let digits = 0;
  let byte = bytes[at];
  for (; byte >= ZERO && byte <= NINE; byte = bytes[++at]) digits = 10 * digits + (byte - ZERO);
  let count = at - whole;
  if (count === 0 || (count > 1 && bytes[whole] === ZERO)) return false;
  let decimals = 0;
  if (byte === DOT) {
    const fraction = ++at;
    for (byte = bytes[at]; byte >= ZERO && byte <= NINE; byte = bytes[++at]) digits = 10 * digits + (byte - ZERO);
    decimals = at - fraction;
    if (decimals === 0) return false;
    count += decimals;
  }
  if (count > DIGITS_MAX) cursor.value = Number(bytes.toString('latin1', start, at));
  else {
    const size = digits / POWERS[decimals];
    cursor.value = isNegative ? -size : size;
  }
  cursor.at = at;
  return true;
}
