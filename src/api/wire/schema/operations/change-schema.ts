import Type from 'typebox';
import { CHANGE_TIME_MS, CHANGE_LIMITS as LIMITS } from '../../../../records/changes/change-limits.ts';
import { NullableInteger, NullableText, PAGE, QueryCount, QueryText, QueryTime } from '../query-fields.ts';

const Time = (description: string) => Type.Integer({ minimum: 0, maximum: CHANGE_TIME_MS.max, description });
const Labels = Type.Record(Type.String(), Type.String({ minLength: 1, maxLength: LIMITS.labelCharactersMax }), {
  maxProperties: LIMITS.labelsMax,
  description: 'It concerns series with all of these labels, their own or those of their detector; without any, all.',
});

/** Other fields of Grafana's annotations are ignored. */
export const ChangeRequest = Type.Object(
  {
    id: Type.Optional(
      Type.Unsafe<string | number>({
        type: ['string', 'integer'],
        minLength: 1,
        maxLength: LIMITS.idCharactersMax,
        description: 'A later change of the same id replaces it. Left out, its content names it.',
      }),
    ),
    time: Type.Optional(Time('When, in milliseconds since 1970, of the years 1990 to 2099. Default, and 0: now.')),
    timeEnd: Type.Optional(Time('When it was done. 0: no such time.')),
    text: Type.String({ minLength: 1, maxLength: LIMITS.textCharactersMax, description: 'Such as deploy web 4.2.' }),
    tags: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: LIMITS.tagCharactersMax }), {
        maxItems: LIMITS.tagsMax,
        description: 'For people: they choose nothing.',
      }),
    ),
    labels: Type.Optional(Labels),
    series: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: LIMITS.seriesCharactersMax,
        description: 'A glob over ids or matchers of labels, in addition to the labels.',
      }),
    ),
    link: Type.Optional(Type.String({ maxLength: LIMITS.linkCharactersMax, description: 'An http or https address.' })),
    dashboardId: Type.Optional(Type.Unknown({ description: 'Ignored, as the next two.' })),
    dashboardUID: Type.Optional(Type.Unknown()),
    panelId: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: false },
);

export const DeploymentAnswer = Type.Object({
  id: Type.String(),
  time: Type.Integer({ description: 'Milliseconds since 1970.' }),
  timeEnd: NullableInteger('When it was done.'),
  text: Type.String(),
  tags: Type.Array(Type.String()),
  labels: Type.Record(Type.String(), Type.String()),
  series: NullableText('A glob or matchers; null: it chooses by its labels alone.'),
  link: NullableText('Link to details.'),
});

export const ChangesQuery = Type.Object({
  from: QueryTime(
    'Only changes that were not done before. Default with `event` or `incident`: 2 hours before its start.',
  ),
  to: QueryTime('Only changes until then. Default with `event` or `incident`: its end.'),
  series: QueryText('Only changes that concern this series.'),
  event: QueryText('Only changes that concern this event.'),
  incident: QueryText('Only changes that concern an event of this incident.'),
  limit: QueryCount(`Changes, at most ${PAGE.max}. Default: ${PAGE.fallback}.`, PAGE),
});

export const ChangesAnswer = Type.Object({
  changes: Type.Array(DeploymentAnswer, { description: 'The latest first.' }),
  total: Type.Integer({ description: 'How many there are, beyond the limit as well.' }),
});
export type ChangesAnswer = Type.Static<typeof ChangesAnswer>;
export type ShownChange = ChangesAnswer['changes'][number];

export const ChangeTakenBack = Type.Object({ id: Type.String() });
