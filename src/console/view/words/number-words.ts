import { quantityText } from '../../../records/text/quantity-text.ts';

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** Four significant digits; large numbers with K, M, G. A dash where there is none. */
export const numberText = (value: number | null) => quantityText(value, null);

export const countText = (count: number) => whole.format(count);

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

export function percentText(share: number): string {
  const percent = share * 100;
  if (percent !== 0 && Math.abs(percent) < 1) return `${percent.toFixed(1)} %`;
  return `${whole.format(percent)} %`;
}

/** A rate of events, which few events estimate to no more than two digits. */
export const rateText = (rate: number | null) => numberText(rate === null ? null : Number(rate.toPrecision(2)));

const UNITS: readonly (readonly [number, string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
];

/** To the minute: `2 d 4 h 5 min`, `12 min`; less than a minute in seconds. */
export function elapsedText(ms: number): string {
  const parts: string[] = [];
  let left = Math.max(0, ms);
  for (const [size, unit] of UNITS) {
    const count = Math.floor(left / size);
    if (count > 0 && !(unit === 's' && parts.length > 0)) parts.push(`${count} ${unit}`);
    left -= count * size;
  }
  return parts.length === 0 ? '0 s' : parts.join(' ');
}
