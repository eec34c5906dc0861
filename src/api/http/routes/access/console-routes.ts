import type { FastifyRequest } from 'fastify';
import { type ApiKey, findKeyById, isUsable } from '../../../../store/keys/api-keys.ts';
import { invalidKey } from '../../../wire/problem.ts';
import type { App, AppServices, ServedPage } from '../../exchange/app-services.ts';
import { sessionKey, startSession, stopSession } from '../../exchange/console-session.ts';
import { tokenOf } from '../../exchange/require-key.ts';
import { addLoginRoutes } from './login-routes.ts';

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
