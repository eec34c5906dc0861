/** Numbers and times as people read them. */

const PLAIN_MAX = 100_000;
const SIGNIFICANT = 4;

const plain = new Intl.NumberFormat('en', { maximumSignificantDigits: SIGNIFICANT });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: SIGNIFICANT });
const small = new Intl.NumberFormat('en', { notation: 'scientific', maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** Four significant digits; large numbers with K, M, B. A dash where there is none. */
export function numberText(value: number | null): string {
  if (value === null || !Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size !== 0 && size < 1e-3) return small.format(value);
  if (size >= PLAIN_MAX) return compact.format(value);
  // Significant digits would round 41,267 to 41,270.
  return size >= 1_000 ? whole.format(value) : plain.format(value);
}

export const countText = (count: number) => whole.format(count);

/** `1 event`, `2 events`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

export function percentText(share: number): string {
  const percent = share * 100;
  if (percent !== 0 && Math.abs(percent) < 1) return `${percent.toFixed(1)} %`;
  return `${whole.format(percent)} %`;
}

const UNITS: readonly (readonly [number, string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
];

/** The two largest units, and no seconds beside minutes: `2 h 5 min`, `12 min`. */
export function elapsedText(ms: number): string {
  const parts: string[] = [];
  let left = Math.max(0, ms);
  for (const [size, unit] of UNITS) {
    const count = Math.floor(left / size);
    if (count > 0) parts.push(`${count} ${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2 || (unit === 'min' && count > 0)) break;
    left -= count * size;
  }
  return parts.length === 0 ? '0 s' : parts.join(' ');
}

/** The largest unit only: `2 h`. */
export function shortDuration(ms: number): string {
  return elapsedText(ms).split(' ').slice(0, 2).join(' ');
}

const pad = (value: number) => String(value).padStart(2, '0');

/** Local time: `14:05`, with the day when it is another one than that of `nowMs`. */
export function timeText(atMs: number, nowMs: number): string {
  const at = new Date(atMs);
  const clock = `${pad(at.getHours())}:${pad(at.getMinutes())}`;
  return at.toDateString() === new Date(nowMs).toDateString() ? clock : `${dayText(atMs)} ${clock}`;
}

/** `12 Mar`. */
export function dayText(atMs: number): string {
  return new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' })
    .formatToParts(atMs)
    .filter(({ type }) => type === 'day' || type === 'month')
    .sort((a) => (a.type === 'day' ? -1 : 1))
    .map(({ value }) => value)
    .join(' ');
}

/** Local date and time to the second, for titles and details. */
export function momentText(atMs: number): string {
  const at = new Date(atMs);
  const date = `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  return `${date} ${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
}
