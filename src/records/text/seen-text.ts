import { quantityTexts } from './quantity-text.ts';

/** Significant digits of what has no unit; more where whole numbers have more, or different values would be alike. */
const DIGITS = 4;
const DIGITS_MAX = 17;
/** A number of more digits is not exact. */
const EXACT_DIGITS = 15;
/** From here on numbers have an exponent, and no meaningless digits. */
const EXPONENT_MIN = 1e16;

/** A value, what was expected, and the bounds of its interval. */
interface SeenNumbers {
  readonly value: number;
  readonly expected: number | null;
  readonly lo: number | null;
  readonly hi: number | null;
  readonly unit: string | null;
}

/** A value as people read it, and what was expected; null if that is not known. */
export function seenTexts(seen: SeenNumbers): readonly [value: string, expected: string | null] {
  const { value, unit } = seen;
  const expected = shownExpected(seen);
  const [valueText, expectedText] = numberTexts([value, expected], unit);
  return [valueText, expected === null ? null : expectedText];
}

/** The expected value, in two digits of its interval: it is known no better. It stays on its side of the value. */
function shownExpected({ value, expected, lo, hi }: SeenNumbers): number | null {
  if (expected === null || lo === null || hi === null) return expected;
  const rounded = roundedBy(expected, (hi - lo) / 2);
  return Math.sign(value - rounded) === Math.sign(value - expected) ? rounded : expected;
}

/** Two digits of a margin: what is farther from the centre is farther from the text of the margin, too. */
export function roundedBy(value: number, margin: number): number {
  const quantum = 10 ** (Math.floor(Math.log10(2 * margin)) - 1);
  return quantum > 0 ? Number((Math.round(value / quantum) * quantum).toPrecision(EXACT_DIGITS)) : value;
}

/** Numbers of one sentence: those that differ do so in their texts. Empty for null. */
export function numberTexts(values: readonly (number | null)[], unit: string | null): readonly string[] {
  if (unit !== null) return quantityTexts(values, unit);
  const different = new Set(values).size;
  for (let digits = DIGITS; ; digits++) {
    const texts = values.map((value) => (value === null ? '' : plainText(value, digits)));
    if (digits === DIGITS_MAX || new Set(texts).size === different) return texts;
  }
}

function plainText(value: number, digits: number): string {
  const size = Math.abs(value);
  const whole = size < EXPONENT_MIN ? String(Math.trunc(size)).length : 0;
  return String(Number(value.toPrecision(Math.max(digits, whole))));
}
