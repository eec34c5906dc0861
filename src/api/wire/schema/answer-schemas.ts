import Type, { type TSchema } from 'typebox';
import { nullable } from './query-fields.ts';

/** The body of errors, and of a successful key check. */
export const Detail = Type.Object({ detail: Type.String() });

const InvalidKey = Type.Object({
  data: nullable(Type.Object({}), 'Null.'),
  message: Type.String(),
  details: Type.String(),
  code: Type.String({ description: 'A12' }),
  requestID: Type.String(),
  support: Type.String(),
  detail: Type.String(),
});

export const InvalidRequest = Type.Object({
  detail: Type.Array(
    Type.Object({
      loc: Type.Array(Type.Unsafe<string | number>({ type: ['string', 'integer'] })),
      msg: Type.String(),
      type: Type.String(),
      input: Type.Optional(Type.Unknown()),
      ctx: Type.Optional(Type.Object({})),
    }),
  ),
});

/** A limit of the key, or with code A21: exhausted credits. */
export const TooManyRequests = Type.Object({ ...Type.Partial(InvalidKey).properties, detail: Type.String() });

/** A google.rpc.Status: what OTLP answers instead. */
export const RpcStatus = Type.Object({
  code: Type.Integer({ description: 'google.rpc.Code' }),
  message: Type.String(),
  detail: Type.String(),
});

const UsageFields = Type.Object({ requests: Type.Integer(), tokens: Type.Integer() });

export const UsageAnswer = Type.Object({ minute: UsageFields, month: UsageFields });

export const Models = Type.Object({ models: Type.Array(Type.Object({ name: Type.String() })) });

/** Answers of endpoints with a key. */
export function answers<T extends TSchema>(success: T) {
  return { 200: success, 401: InvalidKey, 429: TooManyRequests, 503: Detail };
}

export function bodyAnswers<T extends TSchema>(success: T) {
  return { ...answers(success), 400: Detail, 403: Detail, 413: Detail, 415: Detail, 422: InvalidRequest };
}

/** Input of an endpoint. */
export interface AcceptedParts {
  readonly params?: TSchema;
  readonly querystring?: TSchema;
  readonly headers?: TSchema;
  readonly body?: TSchema;
  readonly description?: string;
  readonly deprecated?: boolean;
}

const REFUSALS = { 403: Detail, 404: Detail, 409: Detail, 422: InvalidRequest };
type Refusal = keyof typeof REFUSALS;

/**
 * Describes an endpoint with a key. The refusals of a query or body follow from what it takes.
 * @param also further statuses that it answers
 */
export function described<T extends TSchema, S extends AcceptedParts>(
  success: T,
  accepted: S = {} as S,
  ...also: readonly Refusal[]
) {
  const usual = accepted.body === undefined ? answers(success) : bodyAnswers(success);
  const own = accepted.querystring === undefined ? also : [...also, 422 as const];
  const refusals = Object.fromEntries(own.map((status) => [status, REFUSALS[status]])) as typeof REFUSALS;
  return { schema: { ...accepted, response: { ...usual, ...refusals } } };
}

/** Describes an endpoint that answers in another media type than JSON. */
export function describedMedia<S extends AcceptedParts>(mediaType: string, accepted: S, ...also: Refusal[]) {
  const { schema } = described(Detail, accepted, ...also);
  const answer = { content: { [mediaType]: { schema: Type.String() } } };
  return { schema: { ...schema, response: { ...schema.response, 200: answer } } };
}
