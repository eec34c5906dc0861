import Type from 'typebox';
import { type AnomalyEvent, EVENT_KINDS } from '../../../../records/anomaly-event.ts';
import {
  fieldsOf,
  NextCursor,
  NullableText,
  nullable,
  orNull,
  pageQuery,
  QueryFlag,
  QueryMatch,
  QueryText,
  QueryTime,
  TIME_MS_LATEST,
} from '../query-fields.ts';

export const EventsQuery = Type.Object({
  open: QueryFlag('`true`: only open events; `false`: only closed ones.'),
  acknowledged: QueryFlag('`true`: only acknowledged events; `false`: only others.'),
  series: QueryText('Only events of this series, or with it as a member.'),
  group: QueryText('Only events of this group.'),
  match: QueryMatch,
  detector: QueryText('Only events of this detector.'),
  kind: Type.Optional(Type.Enum([...EVENT_KINDS], { description: 'Only events of this kind.' })),
  incident: QueryText('Only events of this incident.'),
  from: QueryTime('Only events that had not ended before.'),
  to: QueryTime('Only events that started before.'),
  ...pageQuery('Events'),
});

const NOTE_LENGTH_MAX = 2_000;
export const Note = (description: string) => Type.Optional(Type.String({ maxLength: NOTE_LENGTH_MAX, description }));

export const Acknowledged = Type.Object({
  at: Type.Integer(),
  by: Type.String({ description: 'Name of the key.' }),
  note: NullableText('Note of the reviewer.'),
});
export const Muted = Type.Object({
  at: Type.Integer(),
  by: Type.String(),
  until: Type.Integer({ description: 'End of the mute.' }),
  reason: Type.String(),
});
const EventMuted = Type.Object({
  ...Muted.properties,
  mute_id: NullableText('The mute of its series or detector; null if the event or its incident is muted.'),
});
const EventLabel = Type.Object({
  at: Type.Integer(),
  by: Type.String(),
  real: Type.Boolean({ description: 'True if the event was real.' }),
  note: NullableText('Note of the reviewer.'),
});

const Review = {
  acknowledged: nullable(Acknowledged, 'Who acknowledged the event; null if nobody did.'),
  muted: nullable(EventMuted, 'Until when, and why, the event is muted; null if it is not.'),
  label: nullable(EventLabel, 'Whether it was real; null without a label.'),
};

/** An event as it is in the topic, newest revision, with its review by people. */
export const AnomalyEventAnswer = Type.Object({
  ...fieldsOf<AnomalyEvent>('anomaly-event'),
  firstAlarmAtMs: Type.Integer({ description: 'The first alarm; of a silence, when it was noticed.' }),
  lastAlarmAtMs: Type.Integer({ description: 'The last alarm of the event by now, without those of the way back.' }),
  incidentId: NullableText('The incident that it is part of; null while none is known.'),
  ...Review,
});
export type EventAnswer = Type.Static<typeof AnomalyEventAnswer>;

export const EventsAnswer = Type.Object({
  events: Type.Array(AnomalyEventAnswer, { description: 'Open ones first, then newest first.' }),
  total_open: Type.Integer({ description: 'Open events, regardless of the filters.' }),
  next_cursor: NextCursor,
});
export type EventsAnswer = Type.Static<typeof EventsAnswer>;

export const EventReview = Type.Object({
  eventId: Type.String(),
  ...Review,
});

export const AcknowledgeRequest = Type.Object({
  acknowledged: Type.Optional(Type.Boolean({ description: 'false takes it back. Default: true.' })),
  note: Note('A remark.'),
});

export const MuteRequest = Type.Object({
  until: orNull(
    Type.Integer({
      maximum: TIME_MS_LATEST,
      description: 'End of the mute, milliseconds since 1970 (UTC); null ends it now.',
    }),
  ),
  reason: Note('Why. Needed unless the mute ends.'),
});

export const LabelRequest = Type.Object({
  real: orNull(Type.Boolean({ description: 'null takes the label back.' })),
  note: Note('A remark.'),
});

export const LabelsQuery = Type.Object({
  from: QueryTime('Only events that started then or later.'),
  to: QueryTime('Only events that started before.'),
});
