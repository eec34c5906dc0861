import { endAlignedOffsets } from '../../../forecasting/group-context.ts';
import { type Frequency, gridPosition } from '../../../time/frequency.ts';

/**
 * Position of the first value of each series on a common time axis, in steps. Without start times, or on a frequency
 * without a grid, series end together.
 */
export function seriesOffsets(
  sizes: readonly number[],
  startsMs: readonly number[] | null,
  grid: Frequency | null,
): number[] {
  if (startsMs === null || grid === null) return endAlignedOffsets(sizes);
  const first = startsMs.reduce((earliest, time) => Math.min(earliest, time), Number.POSITIVE_INFINITY);
  return startsMs.map((time) => gridPosition(grid, first, time));
}

const ISO_8601 =
  /^(\d{4})-(\d\d)(?:-(\d\d)(?:[T ](\d\d)(?::(\d\d)(?::(\d\d)(?:[.,](\d{1,3})\d*)?)?)?)?)?(Z|[+-]\d\d(?::?\d\d)?)?$/;

/**
 * Parses an ISO 8601 date or date-time into milliseconds since 1970. UTC is the default zone. Returns null for other
 * texts.
 */
export function parseTimestamp(text: string): number | null {
  const match = ISO_8601.exec(text);
  if (match === null) return null;
  const [, year, month, day = '01', hour = '00', minute = '00', second = '00', fraction = '0', zone = 'Z'] = match;
  const offset = zone === 'Z' ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`;
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.padEnd(3, '0')}${offset}`);
  return Number.isNaN(time) ? null : time;
}
