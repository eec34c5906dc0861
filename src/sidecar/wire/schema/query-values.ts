import type Type from 'typebox';
import { fieldProblem, type HttpProblem, invalidRequest } from '../problem.ts';
import { JOBS_PAGE_SIZE, type JobsQuery } from './job-list-schema.ts';

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

/** The requested page: jobs before a number, and how many. Throws an HttpProblem for an invalid token. */
export function pageOf({ page_size: size, page_token: token }: Type.Static<typeof JobsQuery>) {
  return {
    before: token === undefined ? Number.MAX_SAFE_INTEGER : numberOf(token),
    size: size === undefined ? JOBS_PAGE_SIZE : Number(size),
  };
}

/** Opaque to clients. */
export function pageToken(before: number): string {
  return Buffer.from(`before ${before}`).toString('base64url');
}

function numberOf(token: string): number {
  const before = /^before (\d{1,15})$/.exec(Buffer.from(token, 'base64url').toString())?.[1];
  if (before !== undefined && pageToken(Number(before)) === token) return Number(before);
  throw invalidRequest([fieldProblem(['query', 'page_token'], 'page_token must be a next_page_token of this list')]);
}
