import Type from 'typebox';
import { INCIDENT_KINDS, type Incident } from '../../../../records/incident.ts';
import { INCIDENT_VERDICTS } from '../../../../store/reviews/incident-reviews.ts';
import {
  fieldsOf,
  NextCursor,
  NullableText,
  nullable,
  pageQuery,
  QueryFlag,
  QueryMatch,
  QueryText,
  QueryTime,
} from '../query-fields.ts';
import { Acknowledged, Muted, Note } from './event-schema.ts';

export const IncidentsQuery = Type.Object({
  open: QueryFlag('`true`: only open incidents; `false`: only closed ones.'),
  single: QueryFlag('`true`: only incidents of kind `single`; `false`: only others.'),
  match: QueryMatch,
  detector: QueryText('Only incidents with an event of this detector.'),
  kind: Type.Optional(Type.Enum([...INCIDENT_KINDS], { description: 'Only incidents of this kind.' })),
  from: QueryTime('Only incidents that had not ended before.'),
  to: QueryTime('Only incidents that started before.'),
  ...pageQuery('Incidents'),
});

/** A revision as it is in the topic, and the events that have joined. */
const { events: Joined, ...Revision } = fieldsOf<Incident>('anomaly-incident');

const Verdict = Type.Object({
  verdict: Type.Enum([...INCIDENT_VERDICTS]),
  subject: Type.String({ description: 'The event, or what an origin has in common, or its series.' }),
  at: Type.Integer(),
  by: Type.String({ description: 'Name of the key.' }),
  note: NullableText('Note of the reviewer.'),
});

const Review = {
  acknowledged: nullable(Acknowledged, 'Who acknowledged it with all of its events; null if nobody did.'),
  muted: nullable(Muted, 'Until when, and why, it is muted with all of its events; null if it is not.'),
  verdicts: Type.Array(Verdict, { description: 'Verdicts of people on its events and origins, oldest first.' }),
};

export const IncidentAnswer = Type.Object({ ...Revision, ...Review });
export type IncidentAnswer = Type.Static<typeof IncidentAnswer>;

export const IncidentsAnswer = Type.Object({
  incidents: Type.Array(IncidentAnswer, { description: 'Open ones first, then newest first.' }),
  total_open: Type.Integer({ description: 'Open incidents, regardless of the filters except `single`.' }),
  next_cursor: NextCursor,
});
export type IncidentsAnswer = Type.Static<typeof IncidentsAnswer>;

export const IncidentDetailAnswer = Type.Object({
  ...Revision,
  ...Review,
  events: Type.Unsafe<Incident['events']>({
    ...Joined,
    description: 'All of its events by their onsets, at most 1,000.',
  }),
  mergedIds: Type.Array(Type.String(), { description: 'Incidents that were merged into it.' }),
  similar: Type.Array(
    Type.Object({ incident: IncidentAnswer, commonSeries: Type.Integer({ description: 'Series in common.' }) }),
    { description: 'Earlier incidents with common series, the most similar first.' },
  ),
  confirmed: Type.Array(Type.Object({ subject: Type.String(), incidents: Type.Integer() }), {
    description: 'Origins that people confirmed, and for how many incidents.',
  }),
});
export type IncidentDetailAnswer = Type.Static<typeof IncidentDetailAnswer>;

export const IncidentReview = Type.Object({ incidentId: Revision.incidentId, ...Review });

const SUBJECT_LENGTH_MAX = 1_024;

export const VerdictRequest = Type.Object({
  verdict: Type.Enum([...INCIDENT_VERDICTS], {
    description: '`not-related`: an event does not belong to it; `origin`: it began there.',
  }),
  subject: Type.String({
    minLength: 1,
    maxLength: SUBJECT_LENGTH_MAX,
    description: 'Of `not-related` the id of the event; of `origin` what it has in common, or its series.',
  }),
  given: Type.Optional(Type.Boolean({ description: 'false takes it back. Default: true.' })),
  note: Note('A remark.'),
});
