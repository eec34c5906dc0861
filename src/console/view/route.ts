import type { TimeRange } from './scores/shown-scores.ts';

/** Address of a page: the part behind `#`. So a saved report has the same addresses. */
export interface Route {
  /** Empty: the first one. */
  readonly page: string;
  /** The id behind the page, such as that of a series; null if there is none. */
  readonly subject: string | null;
  readonly query: Readonly<Record<string, string>>;
}

export function parseRoute(hash: string): Route {
  const [path, search = ''] = hash.replace(/^#?\/?/, '').split('?', 2);
  const [page, ...rest] = path.split('/');
  const query = Object.fromEntries(new URLSearchParams(search));
  return { page, subject: rest.length === 0 ? null : decoded(rest.join('/')), query };
}

/** A broken escape is shown as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function routeTo(
  page: string,
  subject: string | null = null,
  query: Readonly<Record<string, string>> = {},
): string {
  const kept = Object.entries(query).filter(([, value]) => value !== '');
  const search = kept.length === 0 ? '' : `?${new URLSearchParams(kept)}`;
  return `#/${page}${subject === null ? '' : `/${encodeURIComponent(subject)}`}${search}`;
}

/** The stretch of time of an address; null if it has none. */
export function rangeOf({ query: { from = '', to = '' } }: Route): TimeRange | null {
  if (!/^\d{1,15}$/.test(from) || !/^\d{1,15}$/.test(to)) return null;
  return Number(from) < Number(to) ? { from: Number(from), to: Number(to) } : null;
}

/** The address with another stretch of time; null: with none. */
export function withRange({ page, subject, query }: Route, range: TimeRange | null): string {
  const { from: _from, to: _to, ...rest } = query;
  const times = range === null ? {} : { from: String(Math.round(range.from)), to: String(Math.round(range.to)) };
  return routeTo(page, subject, { ...rest, ...times });
}

const SIGN_IN = 'sign-in';

/** Address at which a code signs in. Browsers send the part behind # to no server. */
export function signInRoute(code: string): string {
  return routeTo(SIGN_IN, code);
}

/** The code of an address that signs in; null for others. */
export function signInCodeOf(hash: string): string | null {
  const { page, subject } = parseRoute(hash);
  return page === SIGN_IN ? subject : null;
}

const REFUSED = 'sign-in-refused';

/** Why a sign-in at an identity provider failed, from the address of the redirect. */
const REFUSALS: Readonly<Record<string, string>> = {
  unfinished: 'This sign-in took longer than 10 minutes, or was started in another window. Try again.',
  declined: 'The provider declined the sign-in.',
  provider: 'The provider did not answer, or its answer is invalid. The log of the service has the reason.',
  'no-role': 'None of your groups has a role. The operator of this service assigns roles to groups (OIDC_ROLES).',
  revoked: 'An admin of this service has ended your access.',
};

/** The sentence of such an address; null for others. */
export function signInRefusalOf(hash: string): string | null {
  const { page, subject } = parseRoute(hash);
  return page === REFUSED ? (REFUSALS[subject ?? ''] ?? 'The sign-in failed. Try again.') : null;
}
