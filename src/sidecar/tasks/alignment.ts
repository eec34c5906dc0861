import { gridPosition, parseFrequency } from '../../calendar/frequency.ts';
import { endAlignedOffsets, withGroupContext } from '../../forecast/group-context.ts';
import type { ForecastPoint } from '../../forecast/model-quantiles.ts';
import type { ServedModel } from '../models/served-models.ts';
import { type FieldProblem, fieldProblem } from '../wire/problem.ts';
import type { HistoryBody } from '../wire/schema/series-schema.ts';

/** A cutoff in one of the series of a request. */
export interface RequestPoint {
  readonly series: number;
  readonly cutoff: number;
}

interface AlignedRequest {
  readonly series: HistoryBody;
  readonly freq: string;
  readonly multivariate?: boolean;
}

/** Whether the request asks for multivariate forecasts and the model supports them. */
function isMultivariate({ multivariate = false }: AlignedRequest, { forecaster }: ServedModel): boolean {
  return multivariate && forecaster.limits.membersMax !== undefined;
}

/** Problems of multivariate requests, besides `seriesProblems`; none for univariate ones. */
export function alignmentProblems(request: AlignedRequest, model: ServedModel | null): FieldProblem[] {
  if (model === null || !isMultivariate(request, model)) return [];
  const { sizes, start_datetime: starts } = request.series;
  const { membersMax = 1 } = model.forecaster.limits;
  const problems: FieldProblem[] = [];
  if (sizes.length > membersMax) {
    const text =
      `${sizes.length} series cannot be forecast together: at most ${membersMax}; ` +
      'send fewer, or multivariate false';
    problems.push(fieldProblem(['body', 'series', 'sizes'], text));
  }
  if (!starts) return problems;
  const loc = ['body', 'series', 'start_datetime'];
  const unread = starts.findIndex((start) => parseTimestamp(start) === null);
  if (unread >= 0) {
    const text = 'a start must be an ISO 8601 date, or date and time, such as 2026-01-31T00:00:00';
    problems.push(fieldProblem([...loc, unread], text));
  }
  return problems;
}

/**
 * Position of the first value of each series on a common time axis, in steps; undefined for univariate forecasts.
 * Without start times, or on a frequency without a grid, series end together.
 */
export function alignmentOf(request: AlignedRequest, model: ServedModel): number[] | undefined {
  if (!isMultivariate(request, model)) return undefined;
  const { sizes, start_datetime: starts } = request.series;
  const grid = parseFrequency(request.freq);
  if (!starts || grid === null) return endAlignedOffsets(sizes);
  const times = starts.map((start) => parseTimestamp(start)!);
  const first = times.reduce((earliest, time) => Math.min(earliest, time), Number.POSITIVE_INFINITY);
  return times.map((time) => gridPosition(grid, first, time));
}

export interface Places {
  readonly places: readonly ForecastPoint[];
  /** The forecasts of the requested points, in their order. */
  asked<T>(forecasts: readonly T[]): T[];
}

interface GroupSettings {
  /** Position of the first value of each series on the common time axis. */
  readonly offsets: readonly number[];
  /** Steps of group context before each point. */
  readonly context: number;
  /**
   * No series contributes more than this many values before its first point, so truncation by clients changes nothing.
   */
  readonly lookback: number;
}

/** The points of a request together with the contexts of the other group members. */
export function multivariatePoints(
  series: readonly Float64Array[],
  points: readonly RequestPoint[],
  { offsets, context, lookback }: GroupSettings,
): Places {
  const starts = series.map(({ length }) => length);
  for (const point of points) starts[point.series] = Math.min(starts[point.series], point.cutoff);
  const floors = starts.map((start) => Math.max(0, start - lookback));
  const shown = series.map((values, i) => values.subarray(floors[i]));
  const withMembers = withGroupContext(
    points.map((point) => ({ series: point.series, cutoff: point.cutoff - floors[point.series] })),
    {
      lengths: shown.map(({ length }) => length),
      offsets: offsets.map((offset, i) => offset + floors[i]),
      context,
    },
  );
  return {
    places: withMembers.map((place) => ({ values: shown[place.series], cutoff: place.cutoff, time: place.time })),
    asked<T>(forecasts: readonly T[]) {
      const picked = new Array<T>(points.length);
      withMembers.forEach(({ requested }, i) => {
        if (requested !== null) picked[requested] = forecasts[i];
      });
      return picked;
    },
  };
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
