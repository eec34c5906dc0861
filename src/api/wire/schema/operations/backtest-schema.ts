import Type from 'typebox';
import { AGGREGATES, COUNTER_READINGS } from '../../../../detection/calibration/points.ts';
import { TokenFields } from '../tasks/token-schema.ts';
import { AnomalyEventAnswer } from './event-schema.ts';
import { SeriesNow, SeriesScoresAnswer } from './history-schema.ts';

/** Characters of one file. */
const CSV_LENGTH_MAX = 32 * 1024 * 1024;

export const BacktestRequest = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 200, description: 'Name of the file.' }),
  csv: Type.String({
    maxLength: CSV_LENGTH_MAX,
    description: 'CSV with columns series, timestamp and value, by comma, semicolon or tab.',
  }),
  freq: Type.Optional(Type.String({ maxLength: 20, description: 'Step of the series. Default: seen in the file.' })),
  aggregate: Type.Optional(
    Type.Enum([...AGGREGATES], {
      description: 'Several points of a series in a step become one value. It needs freq.',
    }),
  ),
  as: Type.Optional(
    Type.Enum([...COUNTER_READINGS], { description: 'Values are those of a counter: its rate, or its increase.' }),
  ),
  h: Type.Optional(Type.Integer({ minimum: 1, description: 'Default: detection_size.' })),
  detection_size: Type.Optional(Type.Integer({ minimum: 1, description: 'Default: 24.' })),
  false_alarms: Type.Optional(Type.String({ maxLength: 64, description: 'As in the detectors file, such as 1/week.' })),
});

const { timestampMs, value, forecast, lo, hi, grade, alarms } = SeriesScoresAnswer.properties;

const { series, detector, group, state } = SeriesNow.properties;

/** All that a report shows: scores in columns, and the newest revision of each event. */
const Report = Type.Object({
  title: Type.String(),
  series: Type.Array(
    Type.Object({
      series,
      detector,
      group,
      state,
      scores: Type.Object({ timestampMs, value, forecast, lo, hi, grade, alarms }),
    }),
  ),
  events: Type.Array(AnomalyEventAnswer),
  units: Type.Optional(
    Type.Record(Type.String(), Type.String(), { description: 'Units of the values by the names of detectors.' }),
  ),
});
export type ReportData = Type.Static<typeof Report>;
export type ReportSeries = ReportData['series'][number];

export const BacktestAnswer = Type.Union([
  Type.Object({
    kind: Type.Literal('report'),
    report: Report,
    notes: Type.Array(Type.String(), { description: 'Rows that were refused, and how the file was read.' }),
    ...TokenFields,
  }),
  Type.Object({
    kind: Type.Literal('problems'),
    problems: Type.Array(Type.String(), { description: 'At most 101. They cost no tokens.' }),
  }),
]);
export type BacktestAnswer = Type.Static<typeof BacktestAnswer>;
