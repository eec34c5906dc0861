import { RESIDUALS_KEPT } from './kind/event-kind.ts';
import type { SeenValue } from './open/event-row.ts';
import type { OpenEvent } from './open/open-event.ts';

const RESIDUAL_MAX = 1e6;

/** Keeps what the leader shows of a row. */
export function keepResidual(
  { residuals, leader, scale }: Pick<OpenEvent, 'residuals' | 'leader' | 'scale'>,
  seen: readonly { readonly series: string; readonly value: number; readonly expected: number }[],
): void {
  if (residuals.length >= RESIDUALS_KEPT) return;
  const own = seen.find(({ series }) => series === leader);
  residuals.push(own === undefined ? 0 : inUnits(own.value - own.expected, scale));
}

/** Keeps what the leader showed of the rows that come before the first alarm, at `position`. */
export function keepEarlierResiduals(
  { residuals, lead = 0, scale }: Pick<OpenEvent, 'residuals' | 'lead' | 'scale'>,
  { earlier }: Pick<SeenValue, 'earlier'>,
  position: number,
): void {
  for (let row = position - lead; row < position; row++) {
    const known = earlier?.(row) ?? null;
    residuals.push(known === null ? 0 : inUnits(known.value - known.expected, scale));
  }
}

/** A finite number of few digits: it is kept as text. 0 where there is none. */
export function inUnits(distance: number, scale: number): number {
  const units = distance / scale;
  if (Number.isNaN(units)) return 0;
  return Math.round(100 * Math.max(-RESIDUAL_MAX, Math.min(units, RESIDUAL_MAX))) / 100;
}
