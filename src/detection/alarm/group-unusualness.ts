import { layout } from '../calibration/layout.ts';
import { TYPICAL, type Unusualness } from './alarm.ts';

/**
 * How unusual the members of a group usually are together: running means, against which a row of the group is
 * measured. The state of a new group is all 0.
 */
export const GROUP_SCALES = layout({ rows: 1, sharp: 1, wide: 1 });
const { rows: ROWS, sharp: SHARP_SCALE, wide: WIDE_SCALE } = GROUP_SCALES.at;

/** A scale forgets with so many time steps, as those of series do. */
const FORGET_ROWS = 3_000;
/** Before the first time step a scale is PRIOR, as if from so many steps. */
const PRIOR = 2;
const PRIOR_ROWS = 24;
/** An entry beyond so many scales counts like one at that distance. */
const CLIP = 4;
const SCALE_MIN = 0.5;
/** Weight of the mean in units of its scale, and of the two most unusual members. */
const MEAN_WEIGHT = 4;
const LARGEST_WEIGHT_SHARP = 0.25;
const LARGEST_WEIGHT_WIDE = 0.5;

/**
 * How unusual a time step of a group is. With x = what a member shows beyond a typical row, 0 at least:
 *
 *   S  = (largest x + second largest x) / 4 + 4 mean(x) / scale        scale: forgetting mean of mean(x)
 *   S' = (largest x + second largest x) / 2 + 4 mean(x) / scale        of the wide numbers, with their own scale
 *
 * The first part keeps what one or two members show. The second sees many members that are a little odd at once: their
 * mean varies far less than one of them does, so it is judged in units of its own past. Where one member alone was
 * observed it is itself.
 * @param areUsual members whose values are what their hour always shows: they explain their part of S
 * @returns null if no member was observed
 */
export function unusualGroup(
  state: Float64Array,
  members: readonly (Unusualness | null)[],
  areUsual: readonly boolean[] = [],
): Unusualness | null {
  const present = members.filter((member) => member !== null);
  if (present.length === 0) return null;
  const sharp = excess(present.map((member) => member.sharp));
  const wide = excess(present.map((member) => member.wide));
  const [sharpScale, wideScale] = [scaleAt(state, SHARP_SCALE), scaleAt(state, WIDE_SCALE)];
  learn(state, SHARP_SCALE, sharp.mean);
  learn(state, WIDE_SCALE, wide.mean);
  state[ROWS]++;
  const isExplained = areUsual.includes(true);
  if (present.length === 1) return isExplained ? { ...present[0], unexplained: 0 } : present[0];
  const sharpOf = ({ largest, mean }: Excess) => LARGEST_WEIGHT_SHARP * largest + (MEAN_WEIGHT * mean) / sharpScale;
  const together = {
    sharp: sharpOf(sharp),
    wide: LARGEST_WEIGHT_WIDE * wide.largest + (MEAN_WEIGHT * wide.mean) / wideScale,
  };
  if (!isExplained) return together;
  const left = members.flatMap((member, i) => (member === null ? [] : areUsual[i] ? TYPICAL : member.sharp));
  return { ...together, unexplained: sharpOf(excess(left)) };
}

interface Excess {
  readonly largest: number;
  readonly mean: number;
}

/** The sum of the two largest, and the mean, of what is beyond a typical row. */
function excess(numbers: readonly number[]): Excess {
  let [first, second, sum] = [0, 0, 0];
  for (const number of numbers) {
    const beyond = Math.max(0, number - TYPICAL);
    sum += beyond;
    second = Math.max(second, Math.min(first, beyond));
    first = Math.max(first, beyond);
  }
  return { largest: first + second, mean: sum / numbers.length };
}

function scaleAt(state: Float64Array, at: number): number {
  return Math.max(SCALE_MIN, state[ROWS] === 0 ? PRIOR : state[at]);
}

function learn(state: Float64Array, at: number, mean: number): void {
  const scale = scaleAt(state, at);
  const before = state[ROWS] === 0 ? PRIOR : state[at];
  state[at] = before + (Math.min(mean, CLIP * scale) - before) / Math.min(FORGET_ROWS, PRIOR_ROWS + state[ROWS] + 1);
}
