import { twoSidedThreshold } from '../../detection/calibration/threshold.ts';
import { intervalBounds } from '../../forecasting/quantiles.ts';

/** Numbers of an answer; NaN is written as null. */
export type WireNumbers = Float64Array;
/** Flags of an answer: 0 is written as false, 1 as true. */
export type WireFlags = Uint8Array;

/** Numbers per chunk. Other requests run between chunks. */
const PIECE = 4_096;

/** The JSON of an answer with typed arrays, in chunks. */
export function* jsonPieces(value: unknown): Generator<string> {
  if (value instanceof Float64Array || value instanceof Uint8Array) {
    const isFlags = value instanceof Uint8Array;
    yield '[';
    for (let start = 0; start < value.length; start += PIECE) {
      const piece = value.subarray(start, start + PIECE);
      const items = new Array<number | boolean>(piece.length); // filled by a loop: Array.from takes ten times as long
      for (let i = 0; i < items.length; i++) items[i] = isFlags ? piece[i] === 1 : piece[i];
      yield (start === 0 ? '' : ',') + JSON.stringify(items).slice(1, -1);
    }
    yield ']';
  } else if (Array.isArray(value)) {
    if (value.every((item) => typeof item === 'number')) return yield* jsonPieces(Float64Array.from(value));
    yield '[';
    for (const [i, item] of value.entries()) {
      if (i > 0) yield ',';
      yield* jsonPieces(item);
    }
    yield ']';
  } else if (typeof value === 'object' && value !== null) {
    let separator = '{';
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue;
      yield `${separator}${JSON.stringify(key)}:`;
      yield* jsonPieces(item);
      separator = ',';
    }
    yield separator === '{' ? '{}' : '}';
  } else {
    yield JSON.stringify(value);
  }
}

export function jsonOf(value: unknown): string {
  return [...jsonPieces(value)].join('');
}

/** Counts the elements of all typed arrays. */
export function numbersIn(value: unknown): number {
  if (value instanceof Float64Array || value instanceof Uint8Array) return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, item) => sum + numbersIn(item), 0);
}

export function joined(parts: readonly Float64Array[]): WireNumbers {
  const whole = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export function flagsOf(parts: readonly (readonly boolean[])[]): WireFlags {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) for (const flag of part) whole[at++] = flag ? 1 : 0;
  return whole;
}

/** A number, with the literal of the client. */
export interface WireLiteral {
  readonly value: number;
  readonly text: string;
}

/** A confidence level in percent. */
export type WireLevel = WireLiteral;

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
