import Type from 'typebox';
import { KEPT_FIELDS } from '../../../../history/port/history-port.ts';
import type { AnomalyEvent } from '../../../../records/anomaly-event.ts';
import type { Incident } from '../../../../records/incident.ts';
import type { ScoreRecord } from '../../../../records/score-record.ts';
import {
  fieldsOf,
  NextCursor,
  NullableInteger,
  NullableNumber,
  NullableText,
  PAGE,
  pageQuery,
  QueryCount,
  QueryFlag,
  QueryMatch,
  QueryText,
  QueryTime,
} from '../query-fields.ts';

/** Points of one answer; longer ranges are downsampled. */
export const SCORE_POINTS = { fallback: 1_000, max: 20_000 } as const;
/** Newest values of each listed series. */
export const RECENT = { fallback: 0, max: 120 } as const;

export const SeriesQuery = Type.Object({
  detector: QueryText('Only series of this detector.'),
  group: QueryText('Only the members of this group.'),
  match: QueryMatch,
  search: QueryText('Only series whose id contains this text, whatever its case.'),
  alarm: QueryFlag('`true`: only series whose newest observation is an alarm.'),
  sort: Type.Optional(Type.Enum(['grade', 'name'], { description: '`grade` (default): worst first. `name`: by id.' })),
  recent: QueryCount(`Newest values to return with each series, at most ${RECENT.max}. Default: none.`, RECENT),
  ...pageQuery('Series'),
});

const Kept = Type.Pick(Type.Object(fieldsOf<ScoreRecord>('anomaly-score')), [...KEPT_FIELDS]);
const { detector, timestampMs } = Kept.properties;

/** The newest score of a series, by the names of its record. */
export const SeriesNow = Type.Object({
  ...Kept.properties,
  value: NullableNumber('The newest value.'),
  ended: Type.Optional(
    Type.Boolean({ description: 'Whether observations stopped long ago, though those of other series continue.' }),
  ),
  recent: Type.Optional(
    Type.Array(NullableNumber('A value.'), { description: 'The newest values, oldest first, where `recent` asks.' }),
  ),
});
export type SeriesNow = Type.Static<typeof SeriesNow>;

export const SeriesPageAnswer = Type.Object({
  series: Type.Array(SeriesNow),
  total: Type.Integer({ description: 'Series that match, on all pages.' }),
  next_cursor: NextCursor,
});
export type SeriesPageAnswer = Type.Static<typeof SeriesPageAnswer>;

export const ScoresQuery = Type.Object({
  from: QueryTime('First event time. Default: the oldest that is kept.'),
  to: QueryTime('End of the range, exclusive. Default: after the newest.'),
  points: QueryCount(
    `Points at most, up to ${SCORE_POINTS.max}; a range of more observations is downsampled. ` +
      `Default: ${SCORE_POINTS.fallback}.`,
    SCORE_POINTS,
  ),
});

const Column = (description: string) => Type.Array(NullableNumber('null if there is none.'), { description });

/** Columns of equal length, oldest first. */
export const SeriesScoresAnswer = Type.Object({
  series: Type.String(),
  detector: Type.String(),
  group: NullableText('The group that the series is scored with.'),
  from: Type.Integer({ description: 'First event time of the range.' }),
  to: Type.Integer({ description: 'End of the range, exclusive.' }),
  bucket_ms: NullableInteger('Width of a bucket where the range was downsampled; null: one point per observation.'),
  timestampMs: Type.Array(Type.Number(), { description: 'Event time; of a bucket its begin.' }),
  value: Column('The value; of a bucket the mean.'),
  value_min: Column('Smallest value of a bucket.'),
  value_max: Column('Largest value of a bucket.'),
  forecast: Column('The forecast; of a bucket the mean.'),
  lo: Column('Lower bound of the interval; of a bucket the mean.'),
  hi: Column('Upper bound of the interval; of a bucket the mean.'),
  anomalyScore: Column('Standard deviations from the forecast; of a bucket the one furthest from 0.'),
  grade: Column('Grade; of a bucket the worst.'),
  severity: Column('Severity; of a bucket the worst.'),
  alarms: Type.Array(Type.Number(), { description: 'Alarms: 0 or 1, of a bucket their number.' }),
  anomalies: Type.Array(Type.Number(), { description: 'Observations outside their interval.' }),
  observations: Type.Array(Type.Number(), { description: 'Observations: 1, of a bucket their number.' }),
});
export type SeriesScoresAnswer = Type.Static<typeof SeriesScoresAnswer>;

export const GroupsQuery = Type.Object({
  detector: QueryText('Only groups of this detector.'),
  match: QueryMatch,
  limit: QueryCount(`Groups, at most ${PAGE.max}, worst first. Default: ${PAGE.fallback}.`, PAGE),
});

export const GroupsAnswer = Type.Object({
  groups: Type.Array(
    Type.Object({
      group: Type.String({ description: 'The group.' }),
      detector,
      members: Type.Integer({ description: 'Series of the group.' }),
      timestampMs,
      grade: NullableNumber('The worst grade of its members now.'),
      severity: NullableNumber('The worst severity of its members now.'),
      alarms: Type.Integer({ description: 'Members whose newest observation is an alarm.' }),
    }),
  ),
});

export const LiveQuery = Type.Object({
  series: QueryText('Every observation of this series is sent too, as `series`.'),
  match: QueryMatch,
  limit: QueryCount(
    `Series of one \`score\` message, worst first, at most ${PAGE.max}. Default: ${PAGE.fallback}.`,
    PAGE,
  ),
});

/** Messages of GET /v1/live by their names. */
export interface LiveMessages {
  /** Once a second: the worst of the series that were observed. */
  readonly score: {
    readonly at: number;
    readonly observations: number;
    readonly alarms: number;
    readonly series_observed: number;
    readonly series: readonly SeriesNow[];
  };
  /** Every score of the series that is followed. */
  readonly series: { readonly series: string | null; readonly scores: readonly SeriesNow[] };
  readonly event: AnomalyEvent;
  /** With the events that have joined. */
  readonly incident: Incident;
  /** Why the connection ends. */
  readonly notice: { readonly reason: string; readonly detail: string };
}
