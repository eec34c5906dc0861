import { twoSidedThreshold } from '../../detection/calibration/threshold.ts';
import { intervalBounds } from '../../forecasting/quantiles.ts';
import type { WireLevel } from './wire-answer.ts';
import { joined, type WireNumbers } from './wire-answer.ts';

export const DEFAULT_LEVEL: WireLevel = { value: 99, text: '99' };

/** The keys of an interval, with the literal that the client wrote. */
export function intervalKeys({ text }: WireLevel): { readonly lo: string; readonly hi: string } {
  return { lo: `lo-${text}`, hi: `hi-${text}` };
}

type WireIntervals = Record<string, WireNumbers>;

export function distinctLevels(levels: readonly WireLevel[] | null | undefined): WireLevel[] {
  return [...new Map((levels ?? []).map((level) => [level.text, level])).values()];
}

/** The quantile probabilities of the bounds of each level: lower, upper. */
export function probabilitiesOf(levels: readonly WireLevel[]): number[] {
  return levels.flatMap(({ value }) => {
    const { lo, hi } = intervalBounds(value);
    return [lo, hi];
  });
}

/** Intervals from the quantiles of `probabilitiesOf`; null without levels. */
export function intervalsOfQuantiles(
  levels: readonly WireLevel[],
  forecasts: readonly { readonly quantiles: readonly Float64Array[] }[],
): WireIntervals | null {
  const bound = (index: number) => joined(forecasts.map(({ quantiles }) => quantiles[index]));
  return intervalsOf(levels, (_, i) => [bound(2 * i), bound(2 * i + 1)]);
}

/** Intervals from the residual deviation of each series; null without levels. */
export function intervalsOfDeviations(
  levels: readonly WireLevel[],
  forecasts: readonly { readonly forecast: Float64Array; readonly deviation: number }[],
): WireIntervals | null {
  const bound = (z: number) =>
    joined(forecasts.map(({ forecast, deviation }) => forecast.map((centre) => centre + z * deviation)));
  return intervalsOf(levels, ({ value }) => {
    const z = twoSidedThreshold(value);
    return [bound(-z), bound(z)];
  });
}

function intervalsOf(
  levels: readonly WireLevel[],
  boundsOf: (level: WireLevel, i: number) => readonly [lo: WireNumbers, hi: WireNumbers],
): WireIntervals | null {
  if (levels.length === 0) return null;
  const bounds = levels.flatMap((level, i) => {
    const { lo, hi } = intervalKeys(level);
    const [low, high] = boundsOf(level, i);
    return [
      [lo, low],
      [hi, high],
    ];
  });
  return Object.fromEntries(bounds);
}
