import Type from 'typebox';
import { NextCursor, NullableInteger, NullableText, nullable, pageQuery, QueryText } from '../query-fields.ts';

const Place = { topic: Type.String(), partition: Type.Integer() };

/** State of the service. A part that is unknown now is null. */
export const ServiceState = Type.Object({
  history: Type.Object({
    kept: Type.Boolean({ description: 'Whether this service keeps a history.' }),
    store: NullableText('`duckdb`.'),
    series: Type.Integer(),
    scores: Type.Integer(),
    events: Type.Integer(),
    bytes: Type.Integer({ description: 'Size on disk.' }),
    oldest: NullableInteger('Oldest event time that is kept.'),
    days_max: Type.Number({ description: '`HISTORY_DAYS`' }),
    gb_max: Type.Number({ description: '`HISTORY_GB`' }),
    problem: NullableText('Why nothing is added now; null if there is no problem.'),
    partitions: Type.Array(
      Type.Object({
        ...Place,
        next_offset: Type.Integer({ description: 'Offset up to which records are stored.' }),
        end_offset: NullableInteger('End of the partition.'),
        lag: NullableInteger('Records that are not stored yet.'),
      }),
    ),
  }),
  workers: nullable(
    Type.Object({
      group: Type.String({ description: 'The consumer group.' }),
      members: Type.Integer(),
      partitions: Type.Array(
        Type.Object({
          ...Place,
          next_offset: NullableInteger('Offset up to which records are scored; null before the first commit.'),
          end_offset: Type.Integer(),
          lag: NullableInteger('Observations that are not scored yet.'),
          owner: NullableText('The member that scores it.'),
        }),
      ),
    }),
    'The consumer group of the workers; null if it cannot be asked.',
  ),
  dead_letters: Type.Array(Type.Object({ reason: Type.String(), letters: Type.Integer(), newest_at: Type.Integer() }), {
    description: 'Dead letters that are kept, by reason.',
  }),
  jobs: Type.Object({ pending: Type.Integer(), running: Type.Integer() }),
  tuned_models: Type.Integer({ description: 'Fine-tuned models of the caller.' }),
});
export type ServiceState = Type.Static<typeof ServiceState>;

export const DeadLettersQuery = Type.Object({
  reason: QueryText('Only letters of this reason.'),
  ...pageQuery('Letters'),
});

const AtMs = Type.Integer({ description: 'When it was written, milliseconds since 1970 (UTC).' });
const RecordMs = Type.Integer({ description: 'Timestamp of the record.' });

export const DeadLetterAnswer = Type.Object({
  id: Type.String({ description: 'PARTITION-OFFSET in the topic of dead letters.' }),
  reason: Type.String(),
  detail: Type.String(),
  atMs: AtMs,
  series: NullableText('Where it could be read.'),
  detector: NullableText('Where it was known.'),
  input: Type.Object({
    ...Place,
    offset: Type.Integer(),
    timestampMs: RecordMs,
  }),
  key: NullableText('Key of the record, as text.'),
  value: NullableText('Value of the record, as text.'),
  truncated: Type.Boolean({ description: 'Key or value was cut, so it cannot be sent again.' }),
  redriven: Type.Boolean({ description: 'It was sent to its input topic again.' }),
});

export const DeadLettersAnswer = Type.Object({ dead_letters: Type.Array(DeadLetterAnswer), next_cursor: NextCursor });
export type DeadLettersAnswer = Type.Static<typeof DeadLettersAnswer>;

export const Redriven = Type.Object({ id: Type.String(), topic: Type.String(), partition: Type.Integer() });
