import { scaleOfResiduals } from '../grade/grade-terms.ts';
import { extremesOf, rarityOf } from './kind/event-extremes.ts';
import { type EventRow, type EventSubject, type SeenValue, seasonOfSeen } from './open/event-row.ts';
import { rarityText, type ShownRange, seasonText, usualRange } from './open/event-summary.ts';
import { contradict, type Habit } from './open/habits.ts';
import type { EventPeak } from './open/open-event.ts';
import type { PeakRow } from './peak-row.ts';

interface PeakOwner extends Pick<EventSubject, 'group' | 'unit' | 'gap' | 'stepMs'> {
  /** First position of the event. */
  readonly start: number;
  readonly habits: readonly Habit[];
}

/** The peak of an event whose newest alarm, at `row`, is about `peakRow`. */
export function peakOf(
  { position, verdict }: EventRow,
  { seen, timestampMs, ...peakRow }: PeakRow,
  { group, unit = null, gap, stepMs, start, habits }: PeakOwner,
): EventPeak {
  const { value, expected, lo, hi } = seen;
  const side = value < expected ? 'lowest' : 'highest';
  const rarity = rarityOf(seen, { value, position, side, start, windowSize: gap });
  const season = seasonOfSeen(seen, verdict);
  // Forecasts that follow an incident are beyond its values. Then the sentence compares them with what was expected.
  const isAlike = season?.raised || value < expected === value < (season?.expected ?? Number.NaN);
  const localMs = (season?.localMs ?? 0) - Math.round((position - peakRow.position) * stepMs);
  const isTrue = season?.day !== undefined || (season !== null && !contradict(habits, timestampMs, usualRange(season)));
  const usual =
    season !== null && isAlike && isTrue
      ? seasonText(value, { ...season, localMs }, shownRange(seen, position, unit))
      : null;
  return {
    timestampMs,
    grade: finite(verdict.grade),
    value,
    expected: finite(expected),
    lo: finite(lo),
    hi: finite(hi),
    unusual: usual ?? (rarity === null ? null : rarityText(rarity, stepMs)),
    ...(group !== null && { series: seen.series, scale: scaleOfResiduals(seen.rings) }),
  };
}

/** The most of units that are shares of a whole. */
const WHOLES: Readonly<Record<string, number>> = { percent: 100, ratio: 1 };

/** A series that was never below 0 ends there, and a share that never exceeded its whole at that. */
function shownRange(seen: SeenValue, position: number, unit: string | null): ShownRange {
  const [lowest, highest] = extremesOf(seen, position);
  const whole = WHOLES[unit ?? ''] ?? Number.NEGATIVE_INFINITY;
  return {
    unit,
    least: lowest >= 0 ? 0 : Number.NEGATIVE_INFINITY,
    most: highest <= whole ? whole : Number.POSITIVE_INFINITY,
  };
}

export function finite(number: number): number | null {
  return Number.isFinite(number) ? number : null;
}
