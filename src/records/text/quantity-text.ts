/** Values with their units, as people read them. */

type Scale = readonly (readonly [size: number, name: string])[];

const times = (scale: Scale, factor: number): Scale => scale.map(([size, name]) => [size * factor, name]);

const BYTES = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'].map((name, i) => [1024 ** i, name] as const).reverse();
const BITS = ['bit', 'kbit', 'Mbit', 'Gbit', 'Tbit'].map((name, i) => [1000 ** i, name] as const).reverse();
const SECONDS: Scale = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
  [1e-3, 'ms'],
  [1e-6, 'µs'],
];

/** Units that are shown in larger or smaller ones, the largest first. Any other unit follows the number. */
const SCALES: Readonly<Record<string, Scale>> = {
  bytes: BYTES,
  bits: BITS,
  'bytes/s': BYTES.map(([size, name]) => [size, `${name}/s`]),
  'bits/s': BITS.map(([size, name]) => [size, `${name}/s`]),
  percent: [[1, '%']],
  ratio: [[0.01, '%']],
  seconds: SECONDS,
  milliseconds: times(SECONDS, 1e3),
  microseconds: times(SECONDS, 1e6),
};

export const KNOWN_UNITS: readonly string[] = Object.keys(SCALES);

/** Significant digits, and how many there may be where fewer would make different values alike. */
const DIGITS = 4;
const DIGITS_MAX = 17;

export function quantityText(value: number | null, unit: string | null): string {
  return textOf(value, unit, DIGITS);
}

/** Values of one sentence: those that differ do so in their texts, as `1408.2T` and `1408.7T`. */
export function quantityTexts(values: readonly (number | null)[], unit: string | null): readonly string[] {
  const different = new Set(values).size;
  for (let digits = DIGITS; ; digits++) {
    const texts = values.map((value) => textOf(value, unit, digits));
    if (digits === DIGITS_MAX || new Set(texts).size === different) return texts;
  }
}

/** Values along an axis, where there is no room for a unit of any length. */
export function axisTexts(values: readonly number[], unit: string | null): readonly string[] {
  return quantityTexts(values, unit !== null && Object.hasOwn(SCALES, unit) ? unit : null);
}

function textOf(value: number | null, unit: string | null, digits: number): string {
  if (value === null || !Number.isFinite(value)) return '–';
  if (unit === null) return plainText(value, digits);
  const scale = Object.hasOwn(SCALES, unit) ? SCALES[unit] : null;
  if (scale === null) return `${plainText(value, digits)} ${unit}`;
  const amount = Math.abs(value);
  const fits = ([size]: Scale[number]) => (amount === 0 ? size <= 1 : amount >= size);
  const [size, name] = scale.find(fits) ?? scale[scale.length - 1];
  return `${plainText(value / size, digits)} ${name}`;
}

const COMPACT_MIN = 100_000;
const SMALL_MAX = 1e-3;
/** From here on thousands of T are no easier to read than an exponent. */
const NAMELESS_MIN = 1e16;

/** Large numbers with K, M, G (B reads as bytes), T; from 1,000 on whole ones: 41,267 should not become 41,270. */
function plainText(value: number, digits: number): string {
  const size = Math.abs(value);
  if (size !== 0 && size < SMALL_MAX) return formatOf('scientific', digits - 1).format(value);
  if (size >= NAMELESS_MIN) return formatOf('scientific', digits).format(value);
  if (size >= COMPACT_MIN) return formatOf('compact', digits).format(value).replace('B', 'G');
  return formatOf('standard', Math.max(digits, size < 1_000 ? 0 : String(Math.trunc(size)).length)).format(value);
}

const formats = new Map<string, Intl.NumberFormat>();

/** Made once each: they are slow to make. */
function formatOf(notation: 'standard' | 'scientific' | 'compact', digits: number): Intl.NumberFormat {
  const name = `${notation} ${digits}`;
  const known = formats.get(name) ?? new Intl.NumberFormat('en', { notation, maximumSignificantDigits: digits });
  formats.set(name, known);
  return known;
}
