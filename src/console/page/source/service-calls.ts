import { SourceFailure } from '../../view/console-source.ts';

/** Called when the service no longer knows the session. */
let onSignedOut = () => {};

export function whenSignedOut(handler: () => void): void {
  onSignedOut = handler;
}

let calls = new AbortController();
/** A browser has few connections to a service: reads without an answer would hold all of them for ever. */
const READ_MS_MAX = 60_000;

type QueryValues = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** Throws a SourceFailure. */
export async function getJson<T>(path: string, query: object = {}): Promise<T> {
  const given = Object.entries(query as QueryValues).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(
    given.flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)])),
  );
  const signal = AbortSignal.any([calls.signal, AbortSignal.timeout(READ_MS_MAX)]);
  return (await call(given.length === 0 ? path : `${path}?${search}`, { signal })) as T;
}

/** Throws a SourceFailure. */
export async function postJson<T>(path: string, body: object, method = 'POST'): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  return (await call(path, { method, headers, body: JSON.stringify(body) })) as T;
}

/** Reviews an event or incident. Throws a SourceFailure. */
export const review = (of: 'events' | 'incidents', id: string, what: string, body: object) =>
  postJson(`/v1/${of}/${encodeURIComponent(id)}/${what}`, body);

export interface Session {
  readonly name: string;
  readonly role: 'viewer' | 'operator' | 'admin';
}

const SESSION_PATH = '/console/session';

/** Throws a SourceFailure. */
export async function signIn(key: string): Promise<Session> {
  // Header values are Latin-1: what no header can carry is no key either.
  if (!/^[\x21-\x7e]+$/.test(key)) throw new SourceFailure(401, 'Invalid API key');
  const init = { method: 'POST', headers: { authorization: `Bearer ${key}` } };
  return ((await call(SESSION_PATH, init)) as { session: Session }).session;
}

/** Throws a SourceFailure. */
export function currentSession(): Promise<{ readonly session: Session | null; readonly provider?: string }> {
  return getJson(SESSION_PATH);
}

/** Leaves for the provider. Who comes back is where this page is now. */
export function signInElsewhere(): void {
  location.assign(`/console/login?${new URLSearchParams({ to: location.hash })}`);
}

/** Ends what is on its way, and what would follow before the answer: it would be refused. */
export async function signOut(): Promise<void> {
  calls.abort();
  await call(SESSION_PATH, { method: 'DELETE', signal: null }).finally(() => {
    calls = new AbortController();
  });
}

async function call(path: string, init: RequestInit): Promise<unknown> {
  const { signal } = calls;
  const unreachable = () => {
    throw new SourceFailure(0, 'The service cannot be reached. The page tries again.');
  };
  const response = await fetch(path, { signal, ...init, credentials: 'same-origin' }).catch(unreachable);
  if (response.status === 204) return null;
  // A service that is killed while it writes an answer leaves the first part of it.
  if (response.ok) return response.json().catch(unreachable);
  if (response.status === 401) onSignedOut();
  const detail = detailOf(await response.json().catch(() => null));
  throw new SourceFailure(response.status, detail ?? `The service answered with ${response.status}.`);
}

/** The service explains every refusal: a text, or a list of fields. */
function detailOf(body: unknown): string | null {
  const detail = (body as { readonly detail?: unknown } | null)?.detail;
  if (typeof detail === 'string') return detail;
  if (!Array.isArray(detail)) return null;
  return detail
    .map(
      ({ msg, loc }: { msg: string; loc: readonly string[] }) =>
        `${loc.slice(1).join('.')}: ${msg.replace('Value error, ', '')}`,
    )
    .join('; ');
}
