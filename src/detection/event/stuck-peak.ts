import { keptValue } from '../memory/kept-value.ts';
import { finite } from './event-peak.ts';
import type { RingValues } from './kind/event-extremes.ts';
import { stuckFrom } from './kind/event-kind.ts';
import { ringValues } from './kind/ring-values.ts';
import type { EventMoment } from './open/event-moment.ts';
import type { ForecastValue } from './open/event-row.ts';
import type { OpenEvent } from './open/open-event.ts';

/** The row at which an event of stuck values is checked, and the kept values of its series. */
interface StuckAt extends EventMoment {
  readonly kept: RingValues;
  /** Position of the first alarm, or of the row that it is about. */
  readonly alarmed: number;
  readonly stepMs: number;
  readonly earlier: ((position: number) => ForecastValue | null) | undefined;
}

/**
 * Describes an event of stuck values by one of these. The alarm may be of a row behind them, where values move again,
 * or of another incident that they followed: then it is kept since when they are stuck, too.
 */
export function classifyStuck(
  event: OpenEvent,
  { kept, alarmed, position, timestampMs, stepMs, earlier }: StuckAt,
): void {
  const { values, oldest } = ringValues(kept.rings, position);
  const from = stuckFrom({ values, start: alarmed - oldest, begun: event.start - oldest });
  if (from === null) return;
  const msAt = (row: number) => timestampMs - Math.round((position - row) * stepMs);
  const first = oldest + from;
  if (first > event.start) event.stuckAtMs = msAt(first);
  const distance = values[from];
  if (Math.fround((event.peak.value ?? Number.NaN) - kept.origin) === distance) return;
  // Forecasts are known of the newest rows alone.
  let [peakAt, forecast]: [number, ForecastValue | null] = [first, null];
  for (let row = first; forecast === null && values[row - oldest] === distance; row++) {
    forecast = earlier?.(row) ?? null;
    if (forecast !== null) peakAt = row;
  }
  event.peak = {
    ...event.peak,
    timestampMs: msAt(peakAt),
    value: keptValue(kept.origin, distance),
    expected: forecast?.expected ?? null,
    lo: finite(forecast?.lo ?? Number.NaN),
    hi: finite(forecast?.hi ?? Number.NaN),
    unusual: null,
    ...(event.group !== null && { series: event.leader, scale: event.scale }),
  };
}

/** Deviations beyond all earlier values from which on a value is no return to normal. */
const BEYOND = 6;

/** True if a value is beyond all that the series of an event showed before it, as the row at `position` knows. */
export function isBeyondPast(
  { start, scale }: Pick<OpenEvent, 'start' | 'scale'>,
  value: number | null,
  { kept: { rings, origin }, position }: { readonly kept: RingValues; readonly position: number },
): boolean {
  const { values, oldest } = ringValues(rings, position);
  const past = values.subarray(0, Math.max(0, start - oldest)).filter((each) => !Number.isNaN(each));
  if (value === null || past.length === 0) return false;
  const [distance, margin] = [value - origin, BEYOND * scale];
  return past.every((each) => distance > each + margin) || past.every((each) => distance < each - margin);
}
