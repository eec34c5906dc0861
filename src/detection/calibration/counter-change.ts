import type { CounterReading } from './points.ts';

/** A value of a counter at an event time. */
export interface CounterPoint {
  readonly timestampMs: number;
  /** NaN of a point that holds an increase: none is counted from it. */
  readonly value: number;
  /** The rest of an integer beyond 2^53. */
  readonly low: number;
  /** Since when it counts; NaN if that is not known. */
  readonly startMs: number;
}

/** A point as it arrives. */
export interface CounterArrival extends CounterPoint {
  /** The value is the increase since `startMs`, or since the point before, not all since a start. */
  readonly isDelta: boolean;
}

export interface CounterRules {
  readonly as: CounterReading;
  /** Points that are further apart do not describe a time step: the later one is a first one. */
  readonly apartMsMax: number;
}

/** Increase of a counter by one point. */
interface CounterChange {
  /** NaN if that is not known. */
  readonly increase: number;
  /** The time that it covers; NaN if that is not known. */
  readonly seconds: number;
  /** The start of an earlier point, after one of another start: two senders count in turn. */
  readonly inTurn: boolean;
  /** The value fell without a new start. */
  readonly fell: boolean;
}

/** Starts of one counter that are remembered. */
const BASES_MAX = 8;
/** A start that is computed from an uptime moves by so much. */
const START_JITTER_MS = 1_000;

const NOTHING: CounterChange = { increase: Number.NaN, seconds: Number.NaN, inTurn: false, fell: false };

/**
 * What a counter has come to since the point before it with the same start: the difference, or all of the value where
 * it fell or has a new start, since it counts from 0 then. Nothing is extrapolated, and nothing is known where points
 * are too far apart, or of a first one.
 * @param bases the newest points of each start, the newest first
 */
export function counterChange(
  bases: readonly CounterPoint[],
  point: CounterArrival,
  { apartMsMax }: Pick<CounterRules, 'apartMsMax'>,
): CounterChange {
  const { timestampMs, value, startMs } = point;
  const newest = bases.at(0);
  const secondsFrom = (fromMs: number) => (timestampMs - fromMs) / 1_000;
  if (point.isDelta) {
    const seconds = secondsFrom(startMs < timestampMs ? startMs : (newest?.timestampMs ?? Number.NaN));
    return startMs < timestampMs && timestampMs - startMs > apartMsMax
      ? NOTHING
      : { ...NOTHING, increase: value, seconds };
  }
  const isNear = (fromMs: number) => timestampMs > fromMs && timestampMs - fromMs <= apartMsMax;
  const base = bases.find((one) => isSameStart(one, point));
  if (base !== undefined) {
    if (!isNear(base.timestampMs)) return NOTHING;
    const difference = value - base.value + (point.low - base.low);
    const fell = difference < 0;
    const increase = fell ? value : difference;
    return { increase, seconds: secondsFrom(base.timestampMs), inTurn: base !== newest, fell };
  }
  if (newest === undefined || Number.isNaN(newest.value)) return NOTHING;
  // It started while others counted, or after them.
  const fromMs = Math.min(startMs, newest.timestampMs);
  return isNear(fromMs) ? { ...NOTHING, increase: value, seconds: secondsFrom(fromMs) } : NOTHING;
}

/** The points from which a counter continues after one more. Those that are too far away are forgotten. */
export function nextBases(
  bases: readonly CounterPoint[],
  { isDelta, ...point }: CounterArrival,
  { apartMsMax }: Pick<CounterRules, 'apartMsMax'>,
): readonly CounterPoint[] {
  const { timestampMs } = point;
  if (isDelta) return [{ timestampMs, value: Number.NaN, low: 0, startMs: Number.NaN }];
  const others = bases.filter((one) => !isSameStart(one, point) && timestampMs - one.timestampMs <= apartMsMax);
  return [point, ...others.filter(({ value }) => !Number.isNaN(value))].slice(0, BASES_MAX);
}

/** A start that is not known is any. */
function isSameStart(base: CounterPoint, { startMs }: CounterPoint): boolean {
  if (Number.isNaN(base.value)) return false;
  if (Number.isNaN(startMs) || Number.isNaN(base.startMs)) return true;
  return Math.abs(startMs - base.startMs) <= START_JITTER_MS && !(startMs > base.timestampMs);
}
