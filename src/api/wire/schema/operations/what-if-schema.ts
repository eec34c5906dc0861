import Type from 'typebox';
import { NullableInteger, NullableNumber, NullableText, orNull } from '../query-fields.ts';
import { TokenFields } from '../tasks/token-schema.ts';
import { AnomalyEventAnswer } from './event-schema.ts';

const Changes = {
  false_alarms: Type.Optional(
    Type.String({
      pattern: '^(off|[0-9]{1,6}(\\.[0-9]{1,6})?/(hour|day|week|month|year))$',
      description: 'As in the detectors file: `1/week`, or `off`.',
    }),
  ),
  h: Type.Optional(Type.Integer({ minimum: 1 })),
  step_size: Type.Optional(Type.Integer({ minimum: 1 })),
  detection_size: Type.Optional(Type.Integer({ minimum: 1 })),
  direction: Type.Optional(Type.Enum(['both', 'up', 'down'])),
  min_deviation: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,15}(\\.[0-9]{1,15})?%?$',
      description: 'Distance from the forecast: `5` in its units, `5%` of it.',
    }),
  ),
  quiet: Type.Optional(
    Type.String({
      pattern: '^[0-2][0-9]:[0-5][0-9]-[0-2][0-9]:[0-5][0-9] [A-Za-z_/+-]{1,64}$',
      description: 'One more time of each day in which no alarm counts: `02:00-04:00 UTC`.',
    }),
  ),
};

const RaisedEvent = Type.Pick(AnomalyEventAnswer, [
  'kind',
  'startedAtMs',
  'endedAtMs',
  'peakAtMs',
  'severity',
  'grade',
  'summary',
]);

const ALARMS = Type.Integer({ description: 'Values that are alarms, of which an event has one or more.' });

const Labelled = Type.Object({
  labelled: Type.Integer({ description: 'Events of the range that people labelled so.' }),
  before: Type.Integer({ description: 'Of them raised by the settings as they are.' }),
  after: Type.Integer({ description: 'Of them raised with the changes.' }),
});

/** Series of one what-if of a detector: those beyond are omitted, and counted. */
export const WHAT_IF_SERIES_MAX = 1_000;
/** Events that its answer lists: those that one of both settings raises first. */
export const WHAT_IF_EVENTS_MAX = 2_000;

export const WhatIfJobRequest = Type.Object({
  detector: Type.String({ maxLength: 1_024, description: 'Its series, or groups, are scored again.' }),
  match: Type.Optional(
    Type.String({ maxLength: 2_048, description: 'Only these series (or groups): a glob, or matchers of labels.' }),
  ),
  from: Type.Optional(Type.Integer({ description: 'First event time. Default: the oldest that is kept.' })),
  to: Type.Optional(Type.Integer({ description: 'End, exclusive. Default: after the newest.' })),
  before: Type.Optional(
    Type.Object(Changes, {
      additionalProperties: false,
      description: 'Changes of the first settings. Default: none.',
    }),
  ),
  after: Type.Object(Changes, {
    additionalProperties: false,
    description: 'Changes of the second settings.',
  }),
});
export type WhatIfJobBody = Type.Static<typeof WhatIfJobRequest>;

const Real = orNull(Type.Boolean({ description: 'Label of an event of this time; null: none.' }));

const ComparedEvent = Type.Object({
  series: NullableText('The series; null if the event is of a group.'),
  group: NullableText('The group; null for a single series.'),
  ...RaisedEvent.properties,
  raised_by: Type.Enum(['before', 'after', 'both'], { description: 'Settings that raise it.' }),
  real: Real,
});

const Sum = Type.Object({
  changes: Type.Object(Changes),
  events: Type.Integer(),
  alarms: ALARMS,
  events_per_week: NullableNumber(
    'Of each series, or group: the count that the target rate bounds; null if too little was scored.',
  ),
  alarms_per_week: NullableNumber('Values of each series, or group; null if too little was scored.'),
  text: Type.String({ description: 'The detectors file with the changes, ready to be saved.' }),
});

export const DetectorWhatIf = Type.Object({
  detector: Type.String(),
  from: Type.Integer({ description: 'Event time of the first value that counts. Earlier values calibrate.' }),
  scored_from: NullableInteger('First score of the settings `before`: earlier values were too few for one.'),
  stream_events: Type.Integer({ description: 'Events of the range that the stream raised.' }),
  to: Type.Integer({ description: 'Event time of the last value.' }),
  observations: Type.Integer({ description: 'Values that were scored again.' }),
  series: Type.Integer({ description: 'Series that were scored again.' }),
  groups: Type.Integer(),
  series_left_out: Type.Integer({ description: `Series beyond ${WHAT_IF_SERIES_MAX}, and those of too many values.` }),
  before: Sum,
  after: Sum,
  only_before: Type.Integer({ description: 'Events that the first settings alone raise.' }),
  only_after: Type.Integer({ description: 'Events that the second settings alone raise.' }),
  both: Type.Integer({ description: 'Events of the first settings that the second ones raise as well.' }),
  labels: Type.Object({ real: Labelled, not_real: Labelled }),
  events: Type.Array(ComparedEvent, {
    description: `At most ${WHAT_IF_EVENTS_MAX}: those of one of the settings first, the most severe ones first.`,
  }),
  ...TokenFields,
});
export type DetectorWhatIf = Type.Static<typeof DetectorWhatIf>;
