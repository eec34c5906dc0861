import Type, { type TSchema } from 'typebox';

/** The body of errors, and of a successful key check. */
export const Detail = Type.Object({ detail: Type.String() });

const InvalidKey = Type.Object({
  data: Type.Union([Type.Object({}), Type.Null()], { description: 'Null.' }),
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

const UsageFields = Type.Object({ requests: Type.Integer(), tokens: Type.Integer() });

export const UsageAnswer = Type.Object({ minute: UsageFields, month: UsageFields });

export const Models = Type.Object({ models: Type.Array(Type.Object({ name: Type.String() })) });

/** Answers of endpoints with a key. */
export function answers<T extends TSchema>(success: T) {
  return { 200: success, 401: InvalidKey, 429: TooManyRequests, 503: Detail };
}

/** Answers of endpoints that answer in another media type than JSON. */
export function mediaAnswers(mediaType: string) {
  return { ...answers(Detail), 200: { content: { [mediaType]: { schema: Type.String() } } } };
}

/** Answers of endpoints with a body. */
export function bodyAnswers<T extends TSchema>(success: T) {
  return {
    200: success,
    400: Detail,
    401: InvalidKey,
    403: Detail,
    413: Detail,
    415: Detail,
    422: InvalidRequest,
    429: TooManyRequests,
    503: Detail,
  };
}

/** Answers of endpoints with a body of series. */
export function seriesAnswers<T extends TSchema>(success: T) {
  return { ...bodyAnswers(success), 404: Detail };
}
