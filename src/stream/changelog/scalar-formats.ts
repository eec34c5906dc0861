import { ALARM_BEFORE_FORMAT_5, ALARM_STATE } from '../../detector/alarm/alarm.ts';
import { RESOLUTION_STATE, STEPS_COUNTED } from '../../detector/calibration/resolution.ts';
import { SCALARS } from '../../detector/memory/series-memory.ts';

/** How many scalars states before format 5 hold; an index is a format. Later ones stand behind those of format 2. */
export const SCALARS_OF_FORMATS = [
  0,
  0,
  SCALARS.alarm + ALARM_BEFORE_FORMAT_5,
  SCALARS.alarm + ALARM_BEFORE_FORMAT_5 + 2,
];

/** The place of a scalar of a state of some format. */
export function scalarOfFormat(format: number, scalar: number): number {
  const isLater = format < 5 && scalar >= SCALARS.alarm + ALARM_BEFORE_FORMAT_5;
  return isLater ? scalar + ALARM_STATE.count - ALARM_BEFORE_FORMAT_5 : scalar;
}

const STEPS = SCALARS.resolution + RESOLUTION_STATE.at.steps;
/** Formats before 6 count the steps of a series no further. */
const STEPS_BEFORE_FORMAT_6 = 8;

/** The value of a scalar of a state of some format. A series that made as many steps as it could count made enough. */
export function valueOfFormat(format: number, scalar: number, value: number): number {
  return format < 6 && scalar === STEPS && value >= STEPS_BEFORE_FORMAT_6 ? STEPS_COUNTED : value;
}
