import { textOf } from '../../config/schema/kinds.ts';

/** Turns a time in the format into ISO 8601; null for a text of another form. */
export type TimeFormat = (text: string) => string | null;

const DIRECTIVES: Readonly<Record<string, string>> = {
  Y: '(?<Y>\\d{4})',
  y: '(?<y>\\d{2})',
  m: '(?<m>\\d{1,2})',
  b: '(?<b>[A-Za-z]{3})',
  d: '(?<d>\\d{1,2})',
  H: '(?<H>\\d{1,2})',
  I: '(?<I>\\d{1,2})',
  p: '(?<p>[AaPp][Mm])',
  M: '(?<M>\\d{2})',
  S: '(?<S>\\d{2})',
  f: '(?<f>\\d{1,9})',
  z: '(?<z>Z|[+-]\\d{2}:?\\d{2})',
  '%': '%',
};
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** As strptime reads years of two digits: 69 is 1969. */
const CENTURY_TURN = 69;

/** A format of strptime that names at least year, month and day, each directive once. */
export const timeFormat = textOf<TimeFormat>(
  'a format with the directives %Y or %y, %m or %b, %d, %H, %I, %p, %M, %S, %f, %z, such as "%d/%m/%Y %H:%M"',
  compileFormat,
);

function compileFormat(format: string): TimeFormat | undefined {
  const parts = format.split(/%(.)/);
  const used = parts.filter((part, i) => i % 2 === 1 && part !== '%');
  const has = (...some: readonly string[]) => some.some((name) => used.includes(name));
  const isKnown = used.every((name) => Object.hasOwn(DIRECTIVES, name)) && new Set(used).size === used.length;
  if (!isKnown || !has('Y', 'y') || !has('m', 'b') || !has('d') || has('I') !== has('p')) return undefined;
  const pattern = parts
    .map((part, i) => (i % 2 === 1 ? DIRECTIVES[part] : part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')))
    .join('');
  const form = new RegExp(`^\\s*${pattern}\\s*$`);
  return (text) => {
    const found = form.exec(text)?.groups;
    return found === undefined ? null : isoOf(found);
  };
}

function isoOf({ Y, y, m, b, d, H, I, p, M = '00', S = '00', f, z = '' }: Readonly<Record<string, string>>): string {
  const year = Y ?? String(Number(y) + (Number(y) < CENTURY_TURN ? 2_000 : 1_900));
  const month = m ?? String(MONTHS.indexOf(b.toLowerCase()) + 1);
  const hour = I === undefined ? (H ?? '0') : String((Number(I) % 12) + (p.toLowerCase() === 'pm' ? 12 : 0));
  const [mm, dd, hh] = [month, d, hour].map((part) => part.padStart(2, '0'));
  return `${year}-${mm}-${dd} ${hh}:${M}:${S}${f === undefined ? '' : `.${f}`}${z}`;
}
