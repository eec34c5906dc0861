import { ALARM_BEFORE_FORMAT_5, ALARM_STATE } from '../../detector/alarm/alarm.ts';
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
