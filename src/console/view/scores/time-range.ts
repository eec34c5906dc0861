export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

const SPAN_MIN_MS = 30_000;

/** Wider (factor above 1) or narrower, around a moment that stays where it is. */
export function zoomed({ from, to }: TimeRange, factor: number, around: number): TimeRange {
  const span = Math.max(SPAN_MIN_MS, (to - from) * factor);
  const share = to > from ? (around - from) / (to - from) : 0.5;
  const start = around - share * span;
  return { from: Math.round(start), to: Math.round(start + span) };
}

/** Moved by a share of its length; backwards where it is negative. */
export function panned({ from, to }: TimeRange, share: number): TimeRange {
  const by = Math.round((to - from) * share);
  return { from: from + by, to: to + by };
}

/** The range with the newest score at its right edge. */
export function following({ from, to }: TimeRange, newest: number): TimeRange {
  return { from: newest - (to - from), to: newest };
}
