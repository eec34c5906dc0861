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

/** Times as people read them, by the clock that they chose. */

/** IANA name of the shown clock; undefined: that of the browser. One for the page, as each of its texts has times. */
let shownZone: string | undefined;

/** @param zone IANA name; undefined: that of the browser. An unknown one is omitted. */
export function showTimesIn(zone: string | undefined): void {
  shownZone = zone !== undefined && isZone(zone) ? zone : undefined;
}

function isZone(zone: string): boolean {
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

export function zoneOfTimes(): string {
  return shownZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}

const FIELDS = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const;
const formats = new Map<string | undefined, Intl.DateTimeFormat>();

/** Made once for each clock: they are slow to make. */
function formatOf(timeZone: string | undefined): Intl.DateTimeFormat {
  const options = { ...FIELDS, second: '2-digit', hourCycle: 'h23', timeZoneName: 'short' } as const;
  const known = formats.get(timeZone) ?? new Intl.DateTimeFormat('en', { ...options, timeZone });
  formats.set(timeZone, known);
  return known;
}

/** The latest time that a date can have. */
const DATE_MS_MAX = 8.64e15;

function partsOf(atMs: number): Readonly<Record<string, string>> {
  return Object.fromEntries(
    formatOf(shownZone)
      .formatToParts(Math.min(atMs, DATE_MS_MAX))
      .map(({ type, value }) => [type, value]),
  );
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** `14:05`; with the day where it is another than that of `nowMs`, and with the year where that is another. */
export function timeText(atMs: number, nowMs: number): string {
  const [at, now] = [momentText(atMs), momentText(nowMs)];
  const clock = at.slice(11, 16);
  if (at.slice(0, 10) === now.slice(0, 10)) return clock;
  return at.slice(0, 4) === now.slice(0, 4)
    ? `${dayText(atMs)} ${clock}`
    : `${dayText(atMs)} ${at.slice(0, 4)} ${clock}`;
}

/** `12 Mar`. */
export function dayText(atMs: number): string {
  const { month, day } = partsOf(atMs);
  return `${Number(day)} ${MONTHS[Number(month) - 1]}`;
}

/** `2026-03-12 14:05:09`. */
export function momentText(atMs: number): string {
  const { year, month, day, hour, minute, second } = partsOf(atMs);
  return `${year}-${month}-${day} ${hour}:${minute}:${second}`;
}

/** `2026-03-12 14:05:09 GMT+1`. */
export function zonedText(atMs: number): string {
  return `${momentText(atMs)} ${partsOf(atMs).timeZoneName}`;
}

/** A sentence of a record, whose times are in UTC, by the clock that the page shows. */
export function withShownClock(text: string): string {
  return text.replace(/\b(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC/g, (_, day: string, clock: string) => {
    return momentText(Date.parse(`${day}T${clock}Z`)).slice(0, 16);
  });
}

/** Lag of event time behind the clock; empty below two minutes. */
export function behindText(nowMs: number, wallMs: number): string {
  const behind = wallMs - nowMs;
  return behind < BEHIND_MIN_MS ? '' : ` (event time), ${elapsedText(behind)} behind the clock`;
}

const BEHIND_MIN_MS = 120_000;

/** The moment of a date and time as `momentText` writes them; NaN if it is none. */
export function momentOf(text: string): number {
  const asUtc = (written: string) => Date.parse(`${written.trim().replace(' ', 'T')}Z`);
  const wanted = asUtc(text.length === 16 ? `${text}:00` : text);
  if (Number.isNaN(wanted)) return wanted;
  const offsetAt = (at: number) => asUtc(momentText(at)) - at;
  // The second look is for a moment on the other side of a change of the clock.
  return wanted - offsetAt(wanted - offsetAt(wanted));
}
