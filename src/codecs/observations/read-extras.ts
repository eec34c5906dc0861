import type { TimeUnit } from '../../config/config.ts';
import { type PointExtras, splitInteger } from '../../records/point-extras.ts';
import type { LocalCalendar } from '../../time/local-calendar.ts';
import { quoted } from '../formats/quoted.ts';
import { isPlausible, readEventTime } from './event-time.ts';

/** Paths of the fields, where a mapping names none. */
export const [START_PATH, TEMPORALITY_PATH] = ['start', 'temporality'];

const INTEGER = /^[+-]?\d{16,20}$/;

/** The rest of an integer beyond 2^53 that its nearest number omits; 0 for others. */
export function lowOf(raw: unknown): number {
  if (typeof raw === 'bigint') return splitInteger(raw).low;
  return typeof raw === 'string' && INTEGER.test(raw) ? splitInteger(BigInt(raw)).low : 0;
}

interface TimeReading {
  readonly timeUnit: TimeUnit;
  readonly timestampMs: number;
  readonly clock: Pick<LocalCalendar, 'offsets'>;
}

/**
 * undefined if there are none. A start that is 0, or not before the time of its point, is ignored. A record without
 * start or temporality has null there.
 */
export function extrasOfRecord(
  { start, temporality, low }: { readonly start: unknown; readonly temporality: unknown; readonly low: number },
  { timeUnit, timestampMs, clock }: TimeReading,
): PointExtras | undefined {
  const startMs = start === null ? Number.NaN : readEventTime(start, timeUnit, clock);
  const isKnown = startMs !== 0 && startMs < timestampMs;
  if (start !== null && (Number.isNaN(startMs) || (isKnown && !isPlausible(startMs, timestampMs)))) {
    return { problem: `the start is ${quoted(start)}, no time from 1980 on in ${timeUnit}` };
  }
  if (temporality !== null && temporality !== 'delta' && temporality !== 'cumulative') {
    return { problem: `the temporality is ${quoted(temporality)}, not "delta" or "cumulative"` };
  }
  const isDelta = temporality === 'delta';
  if (!isKnown && !isDelta && low === 0) return undefined;
  return { ...(isKnown && { startMs }), ...(isDelta && { isDelta }), ...(low !== 0 && { low }) };
}
