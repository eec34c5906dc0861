import { endAlignedOffsets } from '../../../forecasting/group-context.ts';
import { gridPosition } from '../../../time/frequency.ts';
import type { FrequencyProfile } from '../../models/frequency-profile.ts';
import type { ServedModel } from '../../models/served-models.ts';
import { type FieldProblem, fieldProblem } from '../../wire/problem.ts';
import type { SeriesRequest } from './series-problems.ts';

/** Where series lie in time. */
interface Alignment {
  readonly frequency: Pick<FrequencyProfile, 'grid'>;
  readonly model: ServedModel | null;
}

/**
 * Position of the first value of each series on a common time axis, in steps. Adds problems.
 * @returns undefined where series are forecast one by one: the request or the model is univariate
 */
export function alignSeries(
  { series, multivariate = false }: SeriesRequest,
  { frequency, model }: Alignment,
  problems: FieldProblem[],
): number[] | undefined {
  const { sizes } = series;
  const membersMax = model?.forecaster.limits.membersMax;
  if (!multivariate || membersMax === undefined) return undefined;
  if (sizes.length > membersMax) {
    const text =
      `${sizes.length} series cannot be forecast together: at most ${membersMax}; ` +
      'send fewer, or multivariate false';
    problems.push(fieldProblem(['body', 'series', 'sizes'], text));
  }
  return seriesOffsets(series, frequency, problems);
}

/**
 * Position of the first value of each series on a common time axis, in steps. Without start times, or on a frequency
 * without a grid, series end together. Adds problems.
 */
export function seriesOffsets(
  { sizes, start_datetime: starts }: SeriesRequest['series'],
  { grid }: Pick<FrequencyProfile, 'grid'>,
  problems: FieldProblem[],
): number[] {
  const times = starts?.map(parseTimestamp) ?? [];
  const unread = times.indexOf(null);
  if (unread >= 0) {
    const text = 'a start must be an ISO 8601 date, or date and time, such as 2026-01-31T00:00:00';
    problems.push(fieldProblem(['body', 'series', 'start_datetime', unread], text));
  }
  const read = times.filter((time) => time !== null);
  if (!starts || grid === null) return endAlignedOffsets(sizes);
  const first = read.reduce((earliest, time) => Math.min(earliest, time), Number.POSITIVE_INFINITY);
  return read.map((time) => gridPosition(grid, first, time));
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
