import { readFile } from 'node:fs/promises';
import type { TokenEndpoint } from '../../config/config.ts';
import { ServiceError } from '../../ops/service-error.ts';

/** A token is replaced after this share of its lifetime. */
const RENEWAL_SHARE = 0.8;
/** The least time that is left of a token: kafkajs logs in again 10 s before the session of its login ends. */
const LEFT_MS_MIN = 15_000;
/** Lifetime of a token without an expiry. */
const LIFETIME_MS_UNKNOWN = 60_000;
const RESPONSE_MS_MAX = 10_000;
const RESPONSE_BYTES_MAX = 64 * 1024;
/** An endpoint that failed receives no request before. */
const RETRY_MS = 1_000;
/** Characters that `Authorization: Bearer` can carry. */
const BEARER_TOKEN = /^[\x21-\x7e]+$/;

/** Tokens for logins at brokers. All connections share them. */
export interface LoginTokens {
  /** The present token. Throws a ServiceError. */
  current(): Promise<string>;
  accepted(token: string): void;
  /** Returns whether the next token may be accepted. So it is when this one was, before it was refused. */
  refused(token: string): boolean;
}

/** The file is read at each login; its writer must replace the token before it expires. */
export function fileTokens(path: string): LoginTokens {
  return rememberedTokens({
    async current() {
      const token = await readFile(path, 'utf8').then(
        (text) => text.trim(),
        (cause: unknown) => {
          throw unavailable(`Token file ${path} cannot be read`, cause);
        },
      );
      // It is empty while it is being replaced.
      if (!BEARER_TOKEN.test(token)) throw unavailable(`Token file ${path} does not hold a token`);
      return token;
    },
    drop: () => undefined,
  });
}

/**
 * The client credentials flow of OAuth 2 (RFC 6749, 4.4). A token is used until it has lived for most of its time. When
 * the endpoint then is out of reach, it is used until it expires.
 */
export function endpointTokens(
  endpoint: TokenEndpoint,
  { nowMs = Date.now, send = fetch }: { readonly nowMs?: () => number; readonly send?: typeof fetch } = {},
): LoginTokens {
  let held: IssuedToken | null = null;
  let requesting: Promise<IssuedToken> | null = null;
  let failure: { readonly error: unknown; readonly atMs: number } | null = null;
  const renew = async (): Promise<IssuedToken> => {
    if (failure !== null && nowMs() < failure.atMs + RETRY_MS) throw failure.error;
    try {
      held = await requestToken(endpoint, send, nowMs());
      failure = null;
      return held;
    } catch (error) {
      failure = { error, atMs: nowMs() };
      throw error;
    }
  };
  return rememberedTokens({
    async current() {
      if (held !== null && nowMs() < held.renewAtMs) return held.token;
      requesting ??= renew().finally(() => {
        requesting = null;
      });
      const issued = await requesting.catch((error: unknown) => {
        if (held === null || nowMs() >= held.expiresMs) throw error;
        return held;
      });
      return issued.token;
    },
    drop: (token) => {
      if (held?.token === token) held = null;
    },
  });
}

/** Remembers whether the newest token was accepted. */
function rememberedTokens({ current, drop }: { current(): Promise<string>; drop(token: string): void }): LoginTokens {
  let newest: string | null = null;
  let wasAccepted = false;
  return {
    async current() {
      const token = await current();
      if (token !== newest) wasAccepted = false;
      newest = token;
      return token;
    },
    accepted(token) {
      if (token === newest) wasAccepted = true;
    },
    refused(token) {
      drop(token);
      const mayGoOn = token !== newest || wasAccepted;
      if (token === newest) wasAccepted = false;
      return mayGoOn;
    },
  };
}

interface IssuedToken {
  readonly token: string;
  readonly renewAtMs: number;
  readonly expiresMs: number;
}

async function requestToken(endpoint: TokenEndpoint, send: typeof fetch, nowMs: number): Promise<IssuedToken> {
  const { url, clientId, clientSecret, scope } = endpoint;
  const credentials = `${formEncoded(clientId)}:${formEncoded(clientSecret)}`;
  const form = { grant_type: 'client_credentials', ...(scope !== null && { scope }) };
  const response = await send(url, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}`, accept: 'application/json' },
    body: new URLSearchParams(form),
    // A redirect would take the secret elsewhere.
    redirect: 'error',
    signal: AbortSignal.timeout(RESPONSE_MS_MAX),
  }).catch((cause: unknown) => {
    throw unavailable(`Token endpoint ${url} cannot be reached`, cause);
  });
  const answer = await readAnswer(response).catch((cause: unknown) => {
    throw unavailable(`Token endpoint ${url} sent an answer that is cut off or too long`, cause);
  });
  if (!response.ok) throw refusal(url, response.status, answer);
  const token = answer.access_token;
  if (typeof token !== 'string' || !BEARER_TOKEN.test(token)) {
    throw unavailable(`Token endpoint ${url} sent an answer without a token`);
  }
  const lifetimeMs = lifetimeOf(answer.expires_in, token, nowMs);
  const usedMs = Math.min(RENEWAL_SHARE * lifetimeMs, lifetimeMs - LEFT_MS_MIN);
  return { token, renewAtMs: nowMs + usedMs, expiresMs: nowMs + lifetimeMs };
}

/** RFC 6749, 2.3.1: id and secret are encoded before they are joined. */
function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

async function readAnswer(response: Response): Promise<Readonly<Record<string, unknown>>> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length > RESPONSE_BYTES_MAX) throw new Error(`More than ${RESPONSE_BYTES_MAX} bytes`);
  }
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {};
  } catch {
    return {};
  }
}

/** Shows only the code of the error: an answer may repeat what was sent. */
function refusal(url: string, status: number, { error }: Readonly<Record<string, unknown>>): ServiceError {
  const code = typeof error === 'string' && /^[\w.-]{1,60}$/.test(error) ? ` (${error})` : '';
  const text = `Token endpoint ${url} answered ${status}${code}`;
  const isRefused = status >= 400 && status < 500 && status !== 408 && status !== 429;
  return isRefused ? new ServiceError('configuration', text) : unavailable(text);
}

/** `expires_in` in seconds, or the claim `exp` of a JSON web token. */
function lifetimeOf(expiresIn: unknown, token: string, nowMs: number): number {
  const seconds = Number(expiresIn);
  if (expiresIn !== undefined && Number.isFinite(seconds) && seconds > 0) return seconds * 1000;
  try {
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { exp?: unknown };
    if (typeof exp === 'number' && exp * 1000 > nowMs) return exp * 1000 - nowMs;
  } catch {
    // Not a JSON web token.
  }
  return LIFETIME_MS_UNKNOWN;
}

function unavailable(text: string, cause?: unknown): ServiceError {
  const reason = cause instanceof Error ? `: ${(cause.cause as Error | undefined)?.message ?? cause.message}` : '';
  return new ServiceError('broker-unavailable', `${text}${reason}`, { retryable: true });
}
