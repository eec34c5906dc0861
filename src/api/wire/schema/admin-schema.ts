import Type from 'typebox';
import { KEY_ROLES } from '../../../store/keys/key-role.ts';
import { UsageAnswer } from './answer-schemas.ts';
import { UP_TO } from './integer-texts.ts';
import { NextCursor, NullableInteger, orNull } from './query-fields.ts';
import { pageFields } from './tasks/job-list-schema.ts';

const NAME_LENGTH_MAX = 100;
const NAME = `^[^\\x00-\\x1f\\x7f]{1,${NAME_LENGTH_MAX}}$`;
const LIMIT_MAX = 1_000_000;
const TOKENS_MAX = 1_000_000_000_000;
const MODELS_MAX = 100;
export const USAGE_DAYS_SHOWN_MAX = 400;

const Role = Type.Enum([...KEY_ROLES], {
  description: 'viewer: reads. operator: also computes and changes what its owner has. admin: also works on keys.',
});
const limit = (description: string) => orNull(Type.Integer({ minimum: 1, maximum: LIMIT_MAX, description }));
const Models = Type.Unsafe<readonly string[] | null>({
  type: ['array', 'null'],
  items: { type: 'string' },
  maxItems: MODELS_MAX,
  description: 'Models that it may use; null: all.',
});
const Tokens = Type.Integer({ minimum: 1, maximum: TOKENS_MAX });
const moment = (description: string) => orNull(Type.String({ format: 'date-time', description }));

/** A key without its secret. */
export const KeyRecord = Type.Object({
  id: Type.String(),
  owner: Type.String({ description: 'Keys of one owner share fine-tuned models and jobs.' }),
  name: Type.String(),
  role: Role,
  begins: Type.String({ description: 'The first characters of the secret.' }),
  state: Type.Enum(['valid', 'expired', 'revoked']),
  created_at: Type.String({ format: 'date-time' }),
  expires_at: moment('null: never.'),
  revoked_at: moment('null: it is not revoked.'),
  models: Models,
  calls_per_minute: limit('null: no limit.'),
  calls_at_once: limit('null: no limit.'),
  credits: NullableInteger('Tokens left; null: no limit.'),
});

export const Keys = Type.Object({ keys: Type.Array(KeyRecord, { description: 'Oldest first.' }) });
export type Keys = Type.Static<typeof Keys>;

export const NewKeyRequest = Type.Object({
  name: Type.String({ pattern: NAME }),
  owner: Type.Optional(Type.String({ pattern: NAME, description: 'Default: the key is its own.' })),
  role: Type.Optional(Role),
  expires_at: Type.Optional(moment('ISO 8601 with zone. Default: never.')),
  models: Type.Optional(Models),
  calls_per_minute: Type.Optional(limit('Default: no limit.')),
  calls_at_once: Type.Optional(limit('Default: no limit.')),
  credits: Type.Optional(
    orNull(
      Type.Integer({ minimum: 0, maximum: TOKENS_MAX, description: 'Tokens that it may spend. Default: no limit.' }),
    ),
  ),
});
export type NewKeyBody = Type.Static<typeof NewKeyRequest>;

export const NewKeyAnswer = Type.Object({
  ...KeyRecord.properties,
  key: Type.String({ description: 'The secret. It is shown this once.' }),
});
export type NewKeyAnswer = Type.Static<typeof NewKeyAnswer>;

export const RoleRequest = Type.Object({ role: Role });
export const CreditRequest = Type.Object({ tokens: Tokens });

export const KeyUsageQuery = Type.Object({
  days: Type.Optional(
    Type.String({
      pattern: UP_TO[USAGE_DAYS_SHOWN_MAX],
      description: `Days to list, at most ${USAGE_DAYS_SHOWN_MAX}. Default: 30.`,
    }),
  ),
});

export const KeyUsageAnswer = Type.Object({
  ...UsageAnswer.properties,
  days: Type.Array(
    Type.Object({
      day: Type.String({ format: 'date' }),
      calls: Type.Integer({ description: 'Calls; refused ones are counted for keys with a limit a minute.' }),
      requests: Type.Integer({ description: 'Answered requests.' }),
      tokens: Type.Integer(),
      charged: Type.Integer({ description: 'Tokens paid with credits.' }),
    }),
    { description: 'Days (UTC) with usage, newest first.' },
  ),
});
export type KeyUsageAnswer = Type.Static<typeof KeyUsageAnswer>;

export const AuditQuery = Type.Object({
  ...pageFields(1_000),
  subject: Type.Optional(Type.String({ description: 'Only events about this key, model or job.' })),
  actor: Type.Optional(Type.String({ description: 'Only events by this key, or by `operator`.' })),
});

export const AuditEvents = Type.Object({
  events: Type.Array(
    Type.Object({
      happened_at: Type.String({ format: 'date-time' }),
      actor: Type.String({ description: 'Id of a key, or `operator` for the command line.' }),
      owner: orNull(Type.String()),
      action: Type.String(),
      subject: Type.String({ description: 'Id of the key, model or job.' }),
      detail: Type.Unsafe<Readonly<Record<string, unknown>> | null>({ type: ['object', 'null'] }),
      request_id: orNull(Type.String()),
    }),
    { description: 'Newest first.' },
  ),
  next_page_token: NextCursor,
});
