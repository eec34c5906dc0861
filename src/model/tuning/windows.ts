/**
 * Which parts of the series a tuning learns from, and by which it is judged:
 *
 *   0 ......... c ---- c + h ............ v ................ n
 *   context        target                |  targets of validation
 *               of a training window     |
 *
 * The last values of each series are held back: no training window sees them, neither as context nor as target. Once they have judged, they teach, too:
 * nothing is as much like what comes next.
 */

/** Context [max(0, cutoff - context), cutoff) and target [cutoff, end) of one series. */
export interface TuningWindow {
  readonly series: number;
  readonly cutoff: number;
  readonly end: number;
  /** As it is, where nothing is said. */
  readonly varied?: Variation;
}

/** Half of the windows teach not what they are, which would soon be learnt by heart, but what may never have been. */
export interface Variation {
  /** Share of the context that is shown, the newest. */
  readonly shown: number;
  /** Cutoff of a second window of the series, with which it is blended, and its own share in the blend. */
  readonly other: number;
  readonly share: number;
  readonly upsideDown: boolean;
}

/** Training windows of one series: every cutoff from `first` to `last`, targets of `horizon` steps. */
export interface CutoffRange {
  readonly series: number;
  readonly first: number;
  readonly last: number;
  readonly horizon: number;
}

export interface WindowPlan {
  readonly training: readonly CutoffRange[];
  /** The same with what is held back. */
  readonly all: readonly CutoffRange[];
  /** Empty where the series are too short to hold anything back. */
  readonly validation: readonly TuningWindow[];
}

/** Two values are the least that something can be learnt from: one to see, and the one that follows. */
export const LENGTH_MIN = 2;
/** Share of a series that is held back. */
const HELD_SHARE = 0.2;
/** Series shorter than so many horizons hold nothing back. */
const HORIZONS_MIN = 4;
/** Values before a cutoff, where the series is long enough. */
const CONTEXT_MIN = 16;
const VALIDATED_PER_SERIES = 8;
/** Share of the windows that teach as they are, and least share of a context that is shown in the others. */
const PLAIN_SHARE = 0.5;
const SHOWN_MIN = 0.25;

/** @param rowsMax windows of validation of all series together */
export function planWindows(lengths: readonly number[], horizonMax: number, rowsMax: number): WindowPlan {
  const training: CutoffRange[] = [];
  const all: CutoffRange[] = [];
  const validated: TuningWindow[][] = [];
  lengths.forEach((length, series) => {
    if (length < LENGTH_MIN) return;
    const horizon = Math.max(1, Math.min(horizonMax, Math.floor(length / (2 * HORIZONS_MIN))));
    const held = length >= HORIZONS_MIN * horizon + 4 ? Math.max(horizon, Math.round(length * HELD_SHARE)) : 0;
    const last = length - held - horizon;
    const range = { series, first: Math.max(1, Math.min(CONTEXT_MIN, Math.floor(last / 2))), last, horizon };
    training.push(range);
    all.push({ ...range, last: length - horizon });
    if (held > 0) validated.push(heldWindows(series, length - held, length, horizon));
  });
  return { training, all, validation: spread(validated, rowsMax) };
}

/** Evenly spaced windows whose targets lie in [from, to); the last ends with the series. */
function heldWindows(series: number, from: number, to: number, horizon: number): TuningWindow[] {
  const room = to - horizon - from;
  const count = Math.min(VALIDATED_PER_SERIES, room + 1);
  return Array.from({ length: count }, (_, i) => {
    const cutoff = to - horizon - Math.round((room * i) / Math.max(1, count - 1));
    return { series, cutoff, end: cutoff + horizon };
  });
}

/** At most `rowsMax` windows: the newest of evenly spaced series first, then those before. */
function spread(validated: readonly TuningWindow[][], rowsMax: number): TuningWindow[] {
  const seriesCount = Math.min(validated.length, rowsMax);
  const chosen = Array.from(
    { length: seriesCount },
    (_, i) => validated[Math.floor((i * validated.length) / seriesCount)],
  );
  const windows: TuningWindow[] = [];
  for (let turn = 0; turn < VALIDATED_PER_SERIES; turn++) {
    for (const own of chosen) {
      const window = own[turn];
      if (window !== undefined && windows.length < rowsMax) windows.push(window);
    }
  }
  return windows;
}

/**
 * Windows of one batch: series in turns, cutoffs by chance, half of them with a variation.
 * @param turnable whether a series teaches as much upside down
 */
export function drawWindows(
  ranges: readonly CutoffRange[],
  count: number,
  firstTurn: number,
  turnable: boolean,
  chance: () => number,
): TuningWindow[] {
  return Array.from({ length: count }, (_, i) => {
    const { series, first, last, horizon } = ranges[(firstTurn + i) % ranges.length];
    const cutoffByChance = () => first + Math.floor(chance() * (last - first + 1));
    const cutoff = cutoffByChance();
    const shown = SHOWN_MIN + (1 - SHOWN_MIN) * chance();
    const varied = { shown, other: cutoffByChance(), share: chance(), upsideDown: turnable && chance() < 0.5 };
    const window = { series, cutoff, end: cutoff + horizon };
    return chance() < PLAIN_SHARE ? window : { ...window, varied };
  });
}
