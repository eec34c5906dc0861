import { patternProblem } from '../../records/series/series-pattern.ts';
import { PAGE_SIZE } from './page-size.ts';
import { fieldProblem, type HttpProblem, invalidRequest } from './problem.ts';

/** The number of a query text, whose schema has its bounds; the fallback where there is none. */
export function countOf(text: string | undefined, { fallback }: { readonly fallback: number }): number {
  return text === undefined ? fallback : Number(text);
}

const HIDDEN_LABELS =
  'a glob over ids: input.id makes them without the labels. Events are chosen by labels all the same';

/**
 * null if there is none. Throws an HttpProblem where it cannot be read, or asks for labels that ids do not give.
 */
export function matchOf(text: string | undefined, { idsHideLabels = false } = {}): string | null {
  const isHidden = idsHideLabels && text?.trimStart().startsWith('{');
  const problem = text === undefined ? null : isHidden ? HIDDEN_LABELS : patternProblem(text);
  if (problem !== null) throw invalidRequest([fieldProblem(['query', 'match'], `match must be ${problem}`)]);
  return text ?? null;
}

/** null if there is none. */
export function queryTime(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}

/** null if there is none. */
export function flagOf(text: string | undefined): boolean | null {
  return text === undefined ? null : text === 'true';
}

/** Opaque to clients: the sort key of the last row of a page. */
type Cursor = readonly (string | number)[];

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

/**
 * The requested page: entries before a number, and how many. Throws an HttpProblem for a token that no page with this
 * filter gave.
 */
export function pageOf(
  { page_size: size, page_token: token }: { readonly page_size?: string; readonly page_token?: string },
  filter = '',
) {
  return {
    before: token === undefined ? Number.MAX_SAFE_INTEGER : numberOf(token, filter),
    size: size === undefined ? PAGE_SIZE : Number(size),
  };
}

/** Opaque to clients. */
export function pageToken(before: number, filter = ''): string {
  return Buffer.from(`before ${before}${filter}`).toString('base64url');
}

function numberOf(token: string, filter: string): number {
  const before = /^before (\d{1,15})/.exec(Buffer.from(token, 'base64url').toString())?.[1];
  if (before !== undefined && pageToken(Number(before), filter) === token) return Number(before);
  const text = 'page_token must be a next_page_token of this list, with the same filter';
  throw invalidRequest([fieldProblem(['query', 'page_token'], text)]);
}
