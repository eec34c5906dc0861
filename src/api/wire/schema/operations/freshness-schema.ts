import Type from 'typebox';
import { NullableInteger, nullable } from '../query-fields.ts';

/** Freshness of the scores. A part that is unknown now is null. */
export const Freshness = Type.Object({
  at: Type.Integer({ description: 'When this was read.' }),
  problem: nullable(
    Type.Object({
      reason: Type.String(),
      since: Type.Integer({ description: 'If the input has stopped, the event time of its newest observation.' }),
      due: nullable(
        Type.String(),
        'The step that is due if a live input has stopped; null if Kafka or the history fails.',
      ),
    }),
    'Why nothing new is read now; null if there is no problem.',
  ),
  other_clusters: Type.Array(Type.String(), {
    description: 'Ids of Kafka clusters whose histories are in the same DATA_DIR. They are not shown.',
  }),
  newest: NullableInteger('Newest event time of a score.'),
  stored_at: NullableInteger('When the newest score was stored.'),
  series: Type.Object(
    {
      judged: Type.Integer({ description: 'Series whose newest observation is scored.' }),
      calibrating: Type.Integer({ description: 'Series whose history is too short for a score.' }),
      silent: Type.Integer({ description: 'Series with an open event of the kind `silence`.' }),
      ended: Type.Integer({ description: 'Series that stopped long ago although others continue.' }),
    },
    { description: 'Series that are kept, by the state of their newest score.' },
  ),
  workers: nullable(
    Type.Object({
      members: Type.Integer({ description: 'Members of the consumer group.' }),
      lag: Type.Integer({ description: 'Observations that are not scored yet.' }),
      stalled_since: NullableInteger('Since when observations wait and none is scored.'),
    }),
    'The consumer group of the workers; null if it cannot be asked.',
  ),
  incidents: nullable(
    Type.Object({
      open: Type.Integer({ description: 'Open incidents.' }),
      stalled_since: NullableInteger('Since when open events are in no incident, because none is created.'),
    }),
    'State of the process `incidents`; null if it has never created one.',
  ),
  unwatched: nullable(
    Type.Object({
      records: Type.Integer(),
      of: Type.Integer({ description: 'Newest records that were looked at.' }),
      examples: Type.Array(Type.String(), { description: 'Some of their series.' }),
    }),
    'Records of series that no detector watches; null if there are none.',
  ),
});
export type Freshness = Type.Static<typeof Freshness>;
