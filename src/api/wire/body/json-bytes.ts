/** The bytes of JSON's grammar, in ASCII. */
export const TAB = 0x09;
export const LINE_FEED = 0x0a;
export const CARRIAGE_RETURN = 0x0d;
export const SPACE = 0x20;
export const QUOTE = 0x22;
export const PLUS = 0x2b;
export const COMMA = 0x2c;
export const MINUS = 0x2d;
export const DOT = 0x2e;
export const ZERO = 0x30;
export const NINE = 0x39;
export const COLON = 0x3a;
export const UPPER_E = 0x45;
export const LEFT_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const RIGHT_BRACKET = 0x5d;
export const LOWER_E = 0x65;
export const LOWER_F = 0x66;
export const LOWER_N = 0x6e;
export const LOWER_T = 0x74;
export const LEFT_BRACE = 0x7b;
export const RIGHT_BRACE = 0x7d;

/** Literals by their first letter. */
export const LITERALS = new Map([
  [LOWER_T, Buffer.from('true')],
  [LOWER_F, Buffer.from('false')],
  [LOWER_N, Buffer.from('null')],
]);

/** Up to this many digits and this exponent, one multiplication or division of doubles is correctly rounded. */
export const EXACT_DIGITS_MAX = 15;
export const EXACT_EXPONENT_MAX = 22;
export const POWERS_OF_TEN = Array.from({ length: EXACT_EXPONENT_MAX + 1 }, (_, i) => Number(`1e${i}`));
