import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { type ApiKey, findKeyById, isUsable } from '../../../../store/keys/api-keys.ts';
import { keyOfPerson } from '../../../../store/keys/person-keys.ts';
import { type LoginRefusal, messagesOf, type OpenLogin } from '../../../accounts/sign-in/identity-provider.ts';
import { HttpProblem, invalidKey } from '../../../wire/problem.ts';
import type { App, AppServices, ServedPage } from '../../exchange/app-services.ts';
import { sessionKey, startSession, stopSession } from '../../exchange/console-session.ts';
import { tokenOf } from '../../exchange/require-key.ts';

const SESSION_PATH = '/console/session';
const YEAR_S = 31_536_000;

/** The page itself, and sessions of its readers. */
export function addConsoleRoutes(app: App, services: AppServices): void {
  const { consolePage, identity } = services;
  if (consolePage === undefined) return;
  for (const file of consolePage.files) addFile(app, file, consolePage.policy);
  app.get('/console/', async (_request, reply) => reply.redirect('/console', 308));
  app.get('/', async (_request, reply) => reply.redirect('/console', 302));
  app.get(SESSION_PATH, async (request) => {
    const key = await sessionKey(request, services);
    const session = key === null ? null : shownSession(key);
    return { session, ...(identity && { provider: identity.host }) };
  });
  addLoginRoutes(app, services);
  app.delete(SESSION_PATH, async (request, reply) => {
    if ((await sessionKey(request, services)) !== null) await stopSession(request, reply, services);
    return { session: null };
  });
  app.post(SESSION_PATH, async (request, reply) => {
    const key = await signInKey(request, services);
    if (key === null) throw invalidKey(request.id);
    await startSession(request, reply, { ...services, keyId: key.id });
    return { session: shownSession(key) };
  });
}

/** The key that a request signs in with, or whose code it has. */
async function signInKey(
  { headers, ip }: FastifyRequest,
  { keys, signInCode, store, nowMs }: AppServices,
): Promise<ApiKey | null> {
  const token = tokenOf(headers.authorization);
  if (token === null) return null;
  const keyId = signInCode?.use(token, nowMs()) ?? null;
  if (keyId === null) return keys.find(token, ip);
  const key = await findKeyById(store, keyId);
  return key !== null && isUsable(key, nowMs()) ? key : null;
}

function addFile(app: App, file: ServedPage['files'][number], policy: string): void {
  const { path, contentType, immutable } = file;
  const headers = {
    'content-type': contentType,
    'content-security-policy': policy,
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': immutable ? `public, max-age=${YEAR_S}, immutable` : 'no-cache',
  };
  app.get(path, async (_request, reply) => reply.headers(headers).send(file.body));
}

const shownSession = ({ name, role }: ApiKey) => ({ name, role });

const LOGIN_PATH = '/console/login';
const RETURN_PATH = `${LOGIN_PATH}/return`;
const COOKIE = 'tidewatch-login';
/** So long somebody may take at the provider. */
export const LOGIN_MS_MAX = 10 * 60_000;
/** The place in the console that is opened afterwards is so long at most. */
const PLACE_CHARACTERS_MAX = 1_024;
const PLACE = /^#\/[\x21-\x7e]*$/;
/** Logins that wait for the provider at once. */
const LOGINS_AT_ONCE_MAX = 32;
const ACTOR = 'provider';

const LoginQuery = Type.Object({ to: Type.Optional(Type.String({ maxLength: PLACE_CHARACTERS_MAX })) });

/** Cookie that the browser keeps during a sign-in. Scripts cannot read it. */
type KeptLogin = OpenLogin & { readonly to: string };

/** Sign-in at an identity provider: the redirect to it, and the return. The session is like any other. */
function addLoginRoutes(app: App, services: AppServices): void {
  const { identity, store, nowMs, logger } = services;
  let open = 0;
  const bounded = async <T>(work: () => Promise<T>): Promise<T> => {
    if (open >= LOGINS_AT_ONCE_MAX) throw new HttpProblem(503, 'Too many people sign in at once: try again');
    open += 1;
    try {
      return await work();
    } finally {
      open -= 1;
    }
  };

  app.get(LOGIN_PATH, { schema: { querystring: LoginQuery } }, async (request, reply) => {
    if (identity === undefined) throw new HttpProblem(404, 'There is no identity provider: sign in with a key');
    const { to = '' } = request.query;
    try {
      const { url, login } = await bounded(() => identity.begin(addressOf(request, RETURN_PATH).href));
      const kept: KeptLogin = { ...login, to };
      reply.setCookie(COOKIE, Buffer.from(JSON.stringify(kept)).toString('base64url'), {
        ...attributesFor(request),
        maxAge: LOGIN_MS_MAX / 1_000,
      });
      return reply.redirect(url, 302);
    } catch (error) {
      if (error instanceof HttpProblem) throw error;
      logger.warn({ reason: messagesOf(error).join(': ') }, 'the identity provider cannot be asked');
      return reply.redirect(refusedPlace('provider'), 302);
    }
  });

  app.get(RETURN_PATH, async (request, reply) => {
    if (identity === undefined) throw new HttpProblem(404, 'There is no identity provider: sign in with a key');
    reply.clearCookie(COOKIE, attributesFor(request));
    const refuse = (reason: LoginRefusal, detail: string) => {
      logger.warn({ reason, detail, requestId: request.id }, 'sign-in refused');
      return reply.redirect(refusedPlace(reason), 302);
    };
    const came = addressOf(request, request.url);
    const kept = keptLogin(request.cookies[COOKIE]);
    if (kept === null || came.searchParams.get('state') !== kept.state) {
      return refuse('unfinished', 'this browser has no pending sign-in');
    }
    const result = await bounded(() => identity.finish(came, kept));
    if (result.kind === 'refused') return refuse(result.reason, result.detail);
    const key = await keyOfPerson(store, result.person, { nowMs: nowMs(), actor: ACTOR });
    if (key === null) return refuse('revoked', `the key ${result.person.id} was revoked`);
    await startSession(request, reply, { ...services, keyId: key.id });
    return reply.redirect(`/console${PLACE.test(kept.to) ? kept.to : ''}`, 302);
  });
}

const refusedPlace = (reason: LoginRefusal) => `/console#/sign-in-refused/${reason}`;

/** An address of this service as the browser knows it. The provider compares it with those that are registered. */
function addressOf({ protocol, host }: FastifyRequest, path: string): URL {
  const address = `${protocol}://${host}${path}`;
  if (!URL.canParse(address)) throw new HttpProblem(400, 'The header Host is no host');
  return new URL(address);
}

/** `lax`: the way back begins at another site. */
function attributesFor({ protocol }: FastifyRequest) {
  return { path: LOGIN_PATH, httpOnly: true, sameSite: 'lax', secure: protocol === 'https' } as const;
}

function keptLogin(cookie: string | undefined): KeptLogin | null {
  if (cookie === undefined) return null;
  try {
    const kept = JSON.parse(Buffer.from(cookie, 'base64url').toString()) as Readonly<Record<string, unknown>>;
    const isWhole = ['state', 'nonce', 'verifier', 'to'].every((name) => typeof kept[name] === 'string');
    return isWhole ? (kept as unknown as KeptLogin) : null;
  } catch {
    return null;
  }
}
