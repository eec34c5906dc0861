/**
 * Training and validation windows of a tuning:
 *
 *   0 ......... c ---- c + h ............ v ................ n
 *   context        target                |  targets of validation
 *               of a training window     |
 *
 * The last values of each series are held out: no training window of the trial contains them, neither in its context
 * nor in its target. After validation they are training data as well, because they are the most similar to what
 * follows.
 */

/** Context [max(0, cutoff - context), cutoff) and target [cutoff, end) of one series. */
export interface TuningWindow {
  readonly series: number;
  readonly cutoff: number;
  readonly end: number;
  /** Absent: the window is used as it is. */
  readonly augmentation?: Augmentation;
}

/** Half of the training windows are augmented, against overfitting. */
interface Augmentation {
  /** Share of the context that is observed, the newest. */
  readonly contextShare: number;
  /** Cutoff of a second window of the same series, and the weight of the first one in the mixture (mixup). */
  readonly mixCutoff: number;
  readonly mixWeight: number;
  readonly negated: boolean;
}

/** Training windows of one series: every cutoff from `first` to `last`, targets of `horizon` steps. */
export interface CutoffRange {
  readonly series: number;
  readonly first: number;
  readonly last: number;
  readonly horizon: number;
}

interface WindowPlan {
  /** Without the held-out values. */
  readonly training: readonly CutoffRange[];
  /** With the held-out values. */
  readonly all: readonly CutoffRange[];
  /** Empty where the series are too short to hold anything out. */
  readonly validation: readonly TuningWindow[];
}

/** Shortest series that can be trained on: one observation of context, one of target. */
export const LENGTH_MIN = 2;
const HELD_OUT_SHARE = 0.2;
/** Series shorter than this many horizons hold nothing out. */
const HORIZONS_MIN = 4;
/** Shortest context, where the series is long enough. */
const CONTEXT_MIN = 16;
const VALIDATION_WINDOWS_PER_SERIES = 8;
/** Share of the windows without augmentation. */
const PLAIN_SHARE = 0.5;
/** Least share of a context that is observed in an augmented window. */
const CONTEXT_SHARE_MIN = 0.25;

/** @param rowsMax validation windows of all series */
export function planWindows(lengths: readonly number[], horizonMax: number, rowsMax: number): WindowPlan {
  const training: CutoffRange[] = [];
  const all: CutoffRange[] = [];
  const validation: TuningWindow[][] = [];
  lengths.forEach((length, series) => {
    if (length < LENGTH_MIN) return;
    const horizon = Math.max(1, Math.min(horizonMax, Math.floor(length / (2 * HORIZONS_MIN))));
    const heldOut = length >= HORIZONS_MIN * horizon + 4 ? Math.max(horizon, Math.round(length * HELD_OUT_SHARE)) : 0;
    const last = length - heldOut - horizon;
    const range = { series, first: Math.max(1, Math.min(CONTEXT_MIN, Math.floor(last / 2))), last, horizon };
    training.push(range);
    all.push({ ...range, last: length - horizon });
    if (heldOut > 0) validation.push(validationWindows({ series, cutoff: length - heldOut, end: length }, horizon));
  });
  return { training, all, validation: spread(validation, rowsMax) };
}

/** Evenly spaced windows whose targets are in the held-out values; the last one ends with the series. */
function validationWindows({ series, cutoff: from, end: to }: TuningWindow, horizon: number): TuningWindow[] {
  const room = to - horizon - from;
  const count = Math.min(VALIDATION_WINDOWS_PER_SERIES, room + 1);
  return Array.from({ length: count }, (_, i) => {
    const cutoff = to - horizon - Math.round((room * i) / Math.max(1, count - 1));
    return { series, cutoff, end: cutoff + horizon };
  });
}

/** At most `rowsMax` windows: the newest of evenly spaced series first, then earlier ones. */
function spread(windowsOf: readonly TuningWindow[][], rowsMax: number): TuningWindow[] {
  const seriesCount = Math.min(windowsOf.length, rowsMax);
  const chosen = Array.from(
    { length: seriesCount },
    (_, i) => windowsOf[Math.floor((i * windowsOf.length) / seriesCount)],
  );
  const windows: TuningWindow[] = [];
  for (let turn = 0; turn < VALIDATION_WINDOWS_PER_SERIES; turn++) {
    for (const own of chosen) {
      const window = own[turn];
      if (window !== undefined && windows.length < rowsMax) windows.push(window);
    }
  }
  return windows;
}

interface WindowSampling {
  readonly count: number;
  /** Number of windows drawn before; series take turns. */
  readonly firstTurn: number;
  /** True if windows may be negated. */
  readonly signSymmetric: boolean;
  /** Random numbers in [0, 1). */
  random(): number;
}

/** Windows of one batch: series in turns, cutoffs at random, half of them augmented. */
export function drawWindows(
  ranges: readonly CutoffRange[],
  { count, firstTurn, signSymmetric, random }: WindowSampling,
): TuningWindow[] {
  return Array.from({ length: count }, (_, i) => {
    const { series, first, last, horizon } = ranges[(firstTurn + i) % ranges.length];
    const randomCutoff = () => first + Math.floor(random() * (last - first + 1));
    const cutoff = randomCutoff();
    const contextShare = CONTEXT_SHARE_MIN + (1 - CONTEXT_SHARE_MIN) * random();
    const mix = { mixCutoff: randomCutoff(), mixWeight: random() };
    const augmentation = { contextShare, ...mix, negated: signSymmetric && random() < 0.5 };
    const window = { series, cutoff, end: cutoff + horizon };
    return random() < PLAIN_SHARE ? window : { ...window, augmentation };
  });
}
