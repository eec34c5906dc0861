import Type from 'typebox';
import { EVENT_DIRECTIONS, EVENT_KINDS } from '../../../../records/anomaly-event.ts';
import { INCIDENT_KINDS, INCIDENT_TYPES } from '../../../../records/incident.ts';
import { INCIDENT_VERDICTS } from '../../../../store/reviews/incident-reviews.ts';
import {
  NextCursor,
  NullableNumber,
  NullableText,
  NullableTime,
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
  single: QueryFlag('`true`: only events that nothing belongs to; `false`: only other incidents.'),
  match: QueryMatch,
  detector: QueryText('Only incidents with an event of this detector.'),
  kind: Type.Optional(Type.Enum([...INCIDENT_KINDS], { description: 'Only incidents of this kind.' })),
  from: QueryTime('Only incidents that had not ended before.'),
  to: QueryTime('Only incidents that started before.'),
  ...pageQuery('Incidents'),
});

const Origin = Type.Object({
  series: Type.String({ description: 'The series, or group, that represents it.' }),
  common: NullableText('What its series have in common; null for one series.'),
  score: Type.Number({
    description:
      'Share of all evidence. The origin is unknown if the first has less than 1/3 or 1.25 times the second.',
  }),
  evidence: Type.Array(Type.String(), { description: 'Sentences; empty without evidence.' }),
});

const Labels = (description: string) => Type.Record(Type.String(), Type.String(), { description });

const IncidentEvent = Type.Object({
  eventId: Type.String(),
  detector: Type.String(),
  series: NullableText('The series; null where the event is of a group, or of a whole detector.'),
  group: NullableText('The group; null for a single series, or a whole detector.'),
  kind: Type.Enum([...EVENT_KINDS]),
  direction: Type.Enum([...EVENT_DIRECTIONS]),
  startedAtMs: Type.Integer(),
  labels: Labels('Labels of its detector.'),
  seriesLabels: Labels('Labels of its series, or what the series of its group have in common.'),
});

/** A revision as it is in the topic, except its events. */
const Revision = {
  incidentId: Type.String(),
  type: Type.Enum([...INCIDENT_TYPES]),
  revision: Type.Integer(),
  kind: Type.Enum([...INCIDENT_KINDS], {
    description: '`single`: nothing belongs to it; `related`, `simultaneous`, or `pause` of the input of detectors.',
  }),
  startedAtMs: Type.Integer({ description: 'Milliseconds since 1970 (UTC), as all times of an incident.' }),
  updatedAtMs: Type.Integer(),
  endedAtMs: NullableTime('Where the last of its events ended; null while one is open.'),
  mergedInto: NullableText('The incident that it is part of from now on; null unless it was merged.'),
  severity: NullableNumber('The highest of its events.'),
  grade: NullableNumber('The highest of its events.'),
  eventCount: Type.Integer(),
  seriesCount: Type.Integer(),
  usualCount: nullable(Type.Integer(), 'How many series usually begin within as long a time, if that is known.'),
  origins: Type.Array(Origin, {
    description: 'Candidates for where it began, in a list by its events alone. Never the cause.',
  }),
  openedOrigins: Type.Array(Origin, { description: 'As they were ranked when it was opened.' }),
  summary: Type.String({ description: 'One sentence.' }),
};

const Verdict = Type.Object({
  verdict: Type.Enum([...INCIDENT_VERDICTS]),
  subject: Type.String({ description: 'The event, or what an origin has in common, or its series.' }),
  at: Type.Integer(),
  by: Type.String({ description: 'Name of the key.' }),
  note: NullableText('Note of the reviewer.'),
});

const Review = {
  acknowledged: nullable(Acknowledged, 'Who has seen it with all of its events; null while nobody has.'),
  muted: nullable(Muted, 'Until when, and why, it is muted with all of its events; null where it is not.'),
  verdicts: Type.Array(Verdict, { description: 'Verdicts of people on its events and origins, oldest first.' }),
};

const Events = Type.Array(IncidentEvent);

/** A revision with the events that have joined: a message of GET /v1/live. */
const _UnreviewedIncident = Type.Object({ ...Revision, events: Events });
export type UnreviewedIncident = Type.Static<typeof _UnreviewedIncident>;

export const IncidentAnswer = Type.Object({ ...Revision, ...Review });
export type IncidentAnswer = Type.Static<typeof IncidentAnswer>;

export const IncidentsAnswer = Type.Object({
  incidents: Type.Array(IncidentAnswer, { description: 'Open ones first, then newest first.' }),
  total_open: Type.Integer({ description: 'Open incidents, whatever the filters but `single`.' }),
  next_cursor: NextCursor,
});
export type IncidentsAnswer = Type.Static<typeof IncidentsAnswer>;

export const IncidentDetailAnswer = Type.Object({
  ...Revision,
  ...Review,
  events: Type.Array(IncidentEvent, { description: 'All of its events by their onsets, at most 1,000.' }),
  mergedIds: Type.Array(Type.String(), { description: 'Incidents that were merged into it.' }),
  similar: Type.Array(
    Type.Object({ incident: IncidentAnswer, commonSeries: Type.Integer({ description: 'Series that both have.' }) }),
    { description: 'Earlier incidents of the same series, the most alike first.' },
  ),
  confirmed: Type.Array(Type.Object({ subject: Type.String(), incidents: Type.Integer() }), {
    description: 'Origins that were one by the verdict of people, and of how many incidents.',
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
