import { RESOLUTION_STATE, STEPS_COUNTED } from '../detection/calibration/resolution.ts';
import { SCALARS } from '../detection/memory/series-memory.ts';

const STEPS = SCALARS.resolution + RESOLUTION_STATE.at.steps;
/** Formats before 6 count the steps of a series no further. */
const STEPS_BEFORE_FORMAT_6 = 8;

/** The value of a scalar of a state of some format. A series that made as many steps as it could count made enough. */
export function valueOfFormat(format: number, scalar: number, value: number): number {
  return format < 6 && scalar === STEPS && value >= STEPS_BEFORE_FORMAT_6 ? STEPS_COUNTED : value;
}
