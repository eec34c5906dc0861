import Type from 'typebox';

const moment = (description: string) => Type.String({ format: 'date-time', description });

export const SessionsQuery = Type.Object({
  of: Type.Optional(
    Type.Enum(['own', 'all'], {
      description: 'own (the default): sessions of this key. all: of every key, for admins.',
    }),
  ),
});

export const Sessions = Type.Object({
  sessions: Type.Array(
    Type.Object({
      id: Type.String(),
      key_id: Type.String(),
      key_name: Type.String(),
      begun_at: moment('Time of the sign-in.'),
      used_at: moment('Of the last request, or up to an hour before it.'),
      ends_at: moment('When it ends unless it is used: a week after its last request, 30 days after its begin.'),
      current: Type.Boolean({ description: 'True for the session of this request.' }),
    }),
    { description: 'The last used one first.' },
  ),
});
export type Sessions = Type.Static<typeof Sessions>;

export const SessionsEnded = Type.Object({ ended: Type.Integer({ description: 'Sessions that were ended.' }) });
