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
      at: Type.Integer({ description: 'Time at which the receiver accepted it, or it failed.' }),
      notificationId: Type.String({ description: 'The same if a message is repeated.' }),
      receiver: Type.String(),
      route: Type.String(),
      type: Type.String({ description: '`opened`, `updated` or `closed`.' }),
      eventId: NullableText('The event; null if it is about an incident.'),
      incidentId: NullableText('The incident; null if it is about an event.'),
      subject: Type.String({ description: 'Series, group or detector of the event; summary of the incident.' }),
      outcome: Type.String({ description: '`accepted`, or the reason of a dead letter such as `refused`.' }),
      detail: NullableText('Why it failed.'),
    }),
  ),
  next_cursor: NextCursor,
});
export type SentAnswer = Type.Static<typeof SentAnswer>;
