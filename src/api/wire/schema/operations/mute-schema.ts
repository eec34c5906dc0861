import Type from 'typebox';
import { NullableText, nullable, QueryFlag, TIME_MS_LATEST } from '../query-fields.ts';

const PATTERN_LENGTH_MAX = 4_096;
const Pattern = (description: string) =>
  Type.Optional(
    Type.String({ minLength: 1, maxLength: PATTERN_LENGTH_MAX, pattern: '[^ \\t\\n\\r\\f\\v]', description }),
  );

export const MutesQuery = Type.Object({
  ended: QueryFlag('`true`: ended mutes instead of active ones.'),
});

export const NewMuteRequest = Type.Object(
  {
    match: Pattern('A glob over ids of series, or matchers of labels: `{job=~"web-.*"}`. Left out: all series.'),
    detector: Pattern('A glob over names of detectors. Left out: all detectors.'),
    until: Type.Integer({
      maximum: TIME_MS_LATEST,
      description: 'When it ends, milliseconds since 1970 (UTC).',
    }),
    reason: Type.String({
      minLength: 1,
      maxLength: 500,
      pattern: '[^ \\t\\n\\r\\f\\v]',
      description: 'Reason for the mute.',
    }),
  },
  { additionalProperties: false },
);

export const MuteAnswer = Type.Object({
  id: Type.String(),
  match: NullableText('Series that are muted: a glob or matchers of labels; null: all.'),
  detector: NullableText('Detectors whose events are muted: a glob; null: all.'),
  at: Type.Integer({ description: 'When it was set.' }),
  by: Type.String({ description: 'Name of the key that set it.' }),
  until: Type.Integer({ description: 'When it ends.' }),
  reason: Type.String(),
  ended: nullable(
    Type.Object({ at: Type.Integer(), by: Type.String() }),
    'Who ended it before its time, and when; null: nobody.',
  ),
});
export type MuteAnswer = Type.Static<typeof MuteAnswer>;

export const MutesAnswer = Type.Object({ mutes: Type.Array(MuteAnswer) });
export type MutesAnswer = Type.Static<typeof MutesAnswer>;
