import Type from 'typebox';
import { fieldProblem, type HttpProblem, invalidRequest } from '../problem.ts';

/** Values of a query string are texts: patterns check them, and the handler converts them. */
export const QueryTime = (description: string) =>
  Type.Optional(Type.String({ pattern: '^\\d{1,15}$', description: `${description} Milliseconds since 1970 (UTC).` }));

export const QueryText = (description: string) => Type.Optional(Type.String({ maxLength: 1_024, description }));

export const QueryFlag = (description: string) => Type.Optional(Type.Enum(['true', 'false'], { description }));

/** A whole number of at most `digits` digits; the handler bounds it. */
export const QueryCount = (description: string, digits = 6) =>
  Type.Optional(Type.String({ pattern: `^\\d{1,${digits}}$`, description }));

export const QueryCursor = Type.Optional(
  Type.String({ maxLength: 4_096, description: '`next_cursor` of the previous page.' }),
);

export const NextCursor = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  description: 'null on the last page.',
});

export const NullableNumber = (description: string) =>
  Type.Unsafe<number | null>({ type: ['number', 'null'], description });

export const NullableText = (description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], description });

export const NullableTime = (description: string) =>
  Type.Unsafe<number | null>({ type: ['integer', 'null'], description });

/** The number of a query text within its bounds; the fallback where there is none. */
export function countOf(
  text: string | undefined,
  { fallback, max }: { readonly fallback: number; readonly max: number },
) {
  return text === undefined ? fallback : Math.min(Math.max(Number(text), 1), max);
}

/** null where there is none. */
export function queryTime(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}

/** Opaque to clients: the sort key of the last row of a page. */
export type Cursor = readonly (string | number)[];

export function cursorText(cursor: Cursor | null): string | null {
  return cursor === null ? null : Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/** null on the first page. Throws an HttpProblem for a text that no page gave. */
export function cursorOf(text: string | undefined, kinds: readonly ('string' | 'number')[]): Cursor | null {
  if (text === undefined) return null;
  const parsed = parsedCursor(text);
  if (parsed === null || parsed.length !== kinds.length) throw badCursor();
  if (!parsed.every((part, i) => typeof part === kinds[i])) throw badCursor();
  return parsed as Cursor;
}

function parsedCursor(text: string): readonly unknown[] | null {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return Array.isArray(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

function badCursor(): HttpProblem {
  return invalidRequest([fieldProblem(['query', 'cursor'], 'cursor must be a next_cursor of this list')]);
}
