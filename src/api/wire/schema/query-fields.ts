/** Values of a query string are texts: patterns check them, and the handler converts them. */
import Type, { type Static, type TSchema, type TUnsafe } from 'typebox';
import { RECORD_FIELDS, type RecordName } from '../../../records/record-schema.ts';
import { digitsUpTo, UP_TO } from './integer-texts.ts';

/** Times of requests end with the year 9999: clocks and databases of clients know no later one. */
export const TIME_MS_LATEST = 253_402_300_799_999;

export const QueryTime = (description: string) =>
  Type.Optional(Type.String({ pattern: digitsUpTo(15), description: `${description} Milliseconds since 1970 (UTC).` }));

export const QueryText = (description: string) => Type.Optional(Type.String({ maxLength: 1_024, description }));

/** Fields that select series in every query. */
export const QueryMatch = Type.Optional(
  Type.String({
    maxLength: 4_096,
    minLength: 1,
    description: 'Selects series by a glob over ids, or by matchers of labels: `{job=~"web-.*"}`.',
  }),
);

export const QueryFlag = (description: string) => Type.Optional(Type.Enum(['true', 'false'], { description }));

/** An integer from 1 to a maximum. */
export const QueryCount = (description: string, { max }: { readonly max: keyof typeof UP_TO }) =>
  Type.Optional(Type.String({ pattern: UP_TO[max], description }));

export const PAGE = { fallback: 100, max: 1_000 } as const;

const QueryCursor = Type.Optional(
  Type.String({ maxLength: 4_096, description: '`next_cursor` of the previous page.' }),
);

/** The schema, or null, as `type: [T, 'null']` instead of `anyOf`. */
export const orNull = <S extends TSchema & { readonly type: string }>(schema: S) =>
  Type.Unsafe<Static<S> | null>({ ...schema, type: [schema.type, 'null'] });

export const NullableNumber = (description: string) => orNull(Type.Number({ description }));

export const NullableText = (description: string) => orNull(Type.String({ description }));

export const NullableInteger = (description: string) => orNull(Type.Integer({ description }));

export const NextCursor = NullableText('null on the last page.');

/** The fields of a record as they are in its topic. Parts of an answer may get further fields. */
export function fieldsOf<R>(name: RecordName) {
  const fields = Object.entries(RECORD_FIELDS[name]).map(([field, schema]) => [field, Type.Unsafe(opened(schema))]);
  return Object.fromEntries(fields) as { readonly [K in keyof R]-?: TUnsafe<R[K]> };
}

function opened(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (key, value) => {
    return key === 'additionalProperties' && value === false ? undefined : value;
  });
}

export const ById = Type.Object({ id: Type.String() });

export const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });

/** A list in pages. @param rows what it lists */
export const pageQuery = (rows: string) => ({
  limit: QueryCount(`${rows} per page, at most ${PAGE.max}. Default: ${PAGE.fallback}.`, PAGE),
  cursor: QueryCursor,
});

/** A query as its senders write it: numbers and flags are texts in an address only. */
export type QueryOf<Q extends TSchema> = {
  readonly [Name in keyof Static<Q>]?: Name extends 'from' | 'to' | 'limit' | 'recent'
    ? number
    : Name extends 'open' | 'single'
      ? boolean
      : string;
};
