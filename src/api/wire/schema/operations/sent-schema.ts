import Type from 'typebox';
import { NextCursor, NullableText, pageQuery, QueryText } from '../query-fields.ts';

export const SentQuery = Type.Object({
  event: QueryText('Only what was sent about this event.'),
  incident: QueryText('Only what was sent about this incident; with `event` about either.'),
  receiver: QueryText('Only what this receiver was sent.'),
  ...pageQuery('Entries'),
});

export const SentAnswer = Type.Object({
  sent: Type.Array(
    Type.Object({
      at: Type.Integer({ description: 'When the receiver had accepted it, or it was given up.' }),
      notificationId: Type.String({ description: 'The same where a message is repeated.' }),
      receiver: Type.String(),
      route: Type.String(),
      type: Type.String({ description: '`opened`, `updated` or `closed`.' }),
      eventId: NullableText('The event; null where it is about an incident.'),
      incidentId: NullableText('The incident; null where it is about an event.'),
      subject: Type.String({ description: 'Series, group or detector of the event; summary of the incident.' }),
      outcome: Type.String({ description: '`accepted`, or the reason of a dead letter such as `refused`.' }),
      detail: NullableText('Why it was given up.'),
    }),
  ),
  next_cursor: NextCursor,
});
export type SentAnswer = Type.Static<typeof SentAnswer>;
