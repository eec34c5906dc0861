import { scaleOfResiduals } from '../grade/grade-terms.ts';
import { levelBefore, usualBefore } from './event-return.ts';
import type { EventMoment } from './open/event-moment.ts';
import type { EventRow, SeenValue } from './open/event-row.ts';
import { type EventRules, isInvalid } from './open/event-rules.ts';
import { type OpenEvent, sizeOf } from './open/open-event.ts';

/** Rows before an alarm that count in it (alarm.ts): it may be about one of them. */
const EARLIER_ROWS = 2;
/** It is about an earlier one that is so many times as far off. Of rows alike it is about its own, which is exact. */
const FARTHER = 1.25;
/** A row is off its forecast where it is by this share of what the peak is. */
const OFF_SHARE = 0.35;
/** It is displaced where it is by this share of what the peak is. */
const DISPLACED_SHARE = 0.5;

/** The row that an alarm is about. */
export interface PeakRow extends EventMoment {
  readonly seen: SeenValue;
}

/** A value outside of the valid range comes first, then the member whose seasonal profile raised the alarm. */
export function mostUnusual({ seen, verdict: { season } }: EventRow, rules: EventRules): SeenValue | null {
  const raised = season?.raised === true ? season : null;
  let most = seen[0] ?? null;
  for (const each of seen) {
    if (isInvalid(each.value, rules)) return each;
    if (raised === null ? each.sharp > most.sharp : each.season === raised) most = each;
  }
  return most;
}

/**
 * The row that an alarm is about: its own, or one before it that counts in it and is farther from its forecast.
 * An alarm that comes a row behind a spike is about the spike.
 * @param from rows before it belong to another event
 */
export function peakRowOf(
  { position, timestampMs }: EventMoment,
  seen: SeenValue,
  { from, stepMs }: { readonly from: number; readonly stepMs: number },
): PeakRow {
  let peakRow: PeakRow = { position, timestampMs, seen };
  for (let back = 1; back <= EARLIER_ROWS && position - back >= from; back++) {
    const earlier = seen.earlier?.(position - back) ?? null;
    if (earlier === null || !(distanceOf(earlier) > FARTHER * distanceOf(peakRow.seen))) continue;
    const atMs = timestampMs - Math.round(back * stepMs);
    peakRow = { position: position - back, timestampMs: atMs, seen: { ...seen, ...earlier } };
  }
  return peakRow;
}

function distanceOf({ value, expected }: Pick<SeenValue, 'value' | 'expected'>): number {
  return Math.abs(value - expected);
}

/** Distance of a row from its forecast, in the unit of the peak: that of another member, by the deviations of both. */
function distanceLikePeak(seen: SeenValue, { series, scale }: EventPart['peak']): number {
  const isOther = series !== undefined && series !== seen.series;
  const factor = isOther && scale !== undefined ? scale / scaleOfResiduals(seen.rings) : 1;
  return distanceOf(seen) * (Number.isFinite(factor) ? factor : 1);
}

export function isFarther(seen: SeenValue, peak: EventPart['peak']): boolean {
  return distanceLikePeak(seen, peak) > sizeOf(peak);
}

/** True if a row is off its forecast as the peak is. */
export function isDeviating(seen: SeenValue, peak: EventPart['peak']): boolean {
  return distanceLikePeak(seen, peak) >= OFF_SHARE * sizeOf(peak);
}

/** The parts of an event that rows are compared with. */
type EventPart = Pick<OpenEvent, 'start' | 'leader' | 'before' | 'peak'>;

/** A row of a series of an event, and the detection window and step of both. */
interface ComparedRow extends Pick<EventMoment, 'position'> {
  readonly seen: SeenValue;
  readonly gap: number;
  readonly stepMs: number;
}

/** Value of a row without the event; NaN if that is not known. */
function usualAt(event: EventPart, { seen, position, gap, stepMs }: ComparedRow): number {
  const before = seen.series === event.leader ? event.before : levelBefore(seen, event.start, gap);
  return usualBefore({ start: event.start, before }, seen, { position, stepMs })(position);
}

/**
 * Whether a row is the way back: forecasts followed the event and are beyond the value, on the side of the peak. The
 * value is near what would be usual without the event, or at least nearer to it than the forecast is.
 */
export function isRecovering(event: EventPart, row: ComparedRow): boolean {
  const { seen } = row;
  const { value, expected } = event.peak;
  if (value === null || expected === null) return false;
  const side = Math.sign(value - expected);
  const usual = usualAt(event, row);
  const followed = (seen.expected - usual) * side;
  if (!((seen.value - seen.expected) * side < 0 && followed > 0)) return false;
  return Math.abs(seen.value - usual) < Math.max(followed, OFF_SHARE * sizeOf(event.peak));
}

/**
 * Whether a row is away as the peak of its event is: off its forecast, or displaced though forecasts have followed.
 * Where the seasonal profile finds the row unusual for its hour, by however little on that side.
 */
export function isDisplaced(event: EventPart, row: ComparedRow, isOutsideProfile: boolean): boolean {
  const { value, expected } = event.peak;
  if (value === null || expected === null) return true;
  const { seen } = row;
  if (isDeviating(seen, event.peak) && !isRecovering(event, row)) return true;
  const moved = value - expected;
  const displaced = (seen.value - usualAt(event, row)) * Math.sign(moved);
  return isOutsideProfile ? !(displaced <= 0) : displaced >= DISPLACED_SHARE * Math.abs(moved);
}
