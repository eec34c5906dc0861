import { DISPLACED_LEAST } from './kind/displaced-values.ts';
import type { RingValues } from './kind/event-extremes.ts';
import { isShort, isStillStuck, staysWithoutSeason } from './kind/event-kind.ts';
import { presentMedian } from './kind/present-median.ts';
import { ringValues } from './kind/ring-values.ts';
import { leaderSizeOf, type OpenEvent } from './open/open-event.ts';

/** Values are away where the last ones are displaced by at least this share of what the event's own are. */
const AWAY_SHARE = 0.5;
const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;

/** The position at which an event is closed because forecasts are right again. */
interface Closing {
  readonly position: number;
  /** Rows since the last alarm, at least. */
  readonly gap: number;
  readonly stepMs: number;
}

/**
 * Whether values are back where they were, or forecasts have followed them to where they are. The last rows, and those
 * of the event, are compared with the same times of earlier weeks or days, where these are kept; otherwise with the
 * level before the event. O(rows).
 */
export function hasReturned(event: OpenEvent, kept: RingValues, closing: Closing): boolean {
  const { kind, start, away, before, peak, seasonAlarms, day } = event;
  const { rings, origin } = kept;
  const end = closing.position + 1;
  const oldest = Math.max(0, rings.contextStart, end - rings.layout.contextCapacity);
  if (kind === 'stuck' || kind === 'missing_season') {
    const { values } = ringValues(rings, closing.position);
    return !(kind === 'stuck' ? isStillStuck(values) : staysWithoutSeason(values, start - oldest, origin));
  }
  if (kind !== 'level_shift' && kind !== 'drift' && seasonAlarms === undefined) return true;
  const usual = usualBefore(event, kept, closing);
  const displacement = (from: number, to: number): number =>
    presentMedian(Array.from({ length: to - from }, (_, i) => rings.distanceAt(from + i) + origin - usual(from + i)));
  const from = day === undefined ? before : peak.expected;
  const moved =
    start < oldest || day !== undefined
      ? (peak.value ?? Number.NaN) - (from ?? Number.NaN)
      : displacement(start, Math.min(away.until.position, end));
  if (Math.abs(moved) < DISPLACED_LEAST * leaderSizeOf(event)) return true;
  const left = displacement(Math.max(oldest, end - closing.gap, day?.end.position ?? 0), end);
  return !(left * Math.sign(moved) >= AWAY_SHARE * Math.abs(moved) && moved !== 0);
}

/** True if a spike or dip is none, since values have not come back from it by now. */
export function isStillDisplaced(event: OpenEvent, kept: RingValues, closing: Closing): boolean {
  const { kind, start, away } = event;
  const isPoint = kind === 'spike' || kind === 'dip';
  if (!isPoint || away.until.position <= closing.position || isShort(away.until.position - start)) return false;
  return !hasReturned({ ...event, kind: 'level_shift' }, kept, closing);
}

/**
 * What rows would show without the event: the value at the same time of an earlier week or day from before it, where
 * that is kept, or the level before; NaN if neither is known.
 */
export function usualBefore(
  { start, before }: Pick<OpenEvent, 'start' | 'before'>,
  { rings, origin }: RingValues,
  { position: newest, stepMs }: Pick<Closing, 'position' | 'stepMs'>,
): (position: number) => number {
  const oldest = Math.max(0, rings.contextStart, newest + 1 - rings.layout.contextCapacity);
  const lags = [WEEK_DAYS * DAY_MS, DAY_MS].map((ms) => ms / stepMs).filter(Number.isInteger);
  return (position) => {
    for (const lag of lags) {
      const earlier = position - lag * Math.ceil((position - start + 1) / lag);
      if (earlier >= oldest && !Number.isNaN(rings.distanceAt(earlier))) return rings.distanceAt(earlier) + origin;
    }
    return before ?? Number.NaN;
  };
}

/** The level of the rows before an event; null if there are none. */
export function levelBefore({ rings, origin }: RingValues, start: number, rows: number): number | null {
  const from = Math.max(0, rings.contextStart, start - rows, start - rings.layout.contextCapacity + rows);
  const level = presentMedian(Array.from({ length: start - from }, (_, i) => rings.distanceAt(from + i) + origin));
  return Number.isNaN(level) ? null : level;
}
