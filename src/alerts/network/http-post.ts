import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { type AddressGuard, AddressRefused, guardedLookup, refusedAddress, urlHost } from './guarded-lookup.ts';

/** Bytes that are read of an answer: a receiver may send more than memory holds. */
const ANSWER_BYTES_MAX = 2_048;
/** A word at the end of what is read may be half of a secret, which could not be recognised. */
const CUT_WORD = /[\p{L}\p{N}\p{M}%\\&#;+=._~\ufffd-]*$/u;
const SOCKETS_MAX = 8;
const RETRY_AFTER_MS_MAX = 3_600_000;

export interface PostRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** From the lookup to the end of the answer; of an acceptance to its status. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export type PostAnswer =
  | {
      readonly kind: 'answer';
      readonly status: number;
      /** Beginning of the answer, in whole words. */
      readonly excerpt: string;
      /** The delay of `Retry-After`; null without it. */
      readonly retryAfterMs: number | null;
    }
  /** No answer came. `detail` has no path, which may be a secret. */
  | { readonly kind: 'unreachable'; readonly detail: string }
  | { readonly kind: 'address-refused'; readonly detail: string };

/** Posts to receivers. Redirects are not followed: the next address could be anyone's. */
export class HttpPoster {
  readonly #guard: AddressGuard;
  readonly #http: HttpAgent;
  readonly #https: HttpsAgent;

  constructor(guard: AddressGuard) {
    this.#guard = guard;
    const options = { keepAlive: true, maxSockets: SOCKETS_MAX, lookup: guardedLookup(guard) };
    this.#http = new HttpAgent(options);
    this.#https = new HttpsAgent(options);
  }

  async post({ url, headers, body, timeoutMs, signal }: PostRequest): Promise<PostAnswer> {
    const target = new URL(url);
    const refused = refusedAddress(this.#guard, urlHost(target));
    if (refused !== null) return { kind: 'address-refused', detail: refused.message };
    const timeout = AbortSignal.timeout(timeoutMs);
    const options = {
      method: 'POST',
      headers: { 'user-agent': 'tidewatch', ...headers, 'content-length': Buffer.byteLength(body) },
      signal: AbortSignal.any([signal, timeout]),
    };
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const request =
          target.protocol === 'https:'
            ? requestHttps(target, { ...options, agent: this.#https }, resolve)
            : requestHttp(target, { ...options, agent: this.#http }, resolve);
        request.on('error', reject).end(body);
      });
      const { statusCode: status = 0 } = response;
      const retryAfterMs = retryAfter(response.headers['retry-after']);
      // Whoever has accepted may take its time to answer: the time-out ends it, and nothing is repeated.
      if (isAcceptance(status)) discard(response);
      return { kind: 'answer', status, excerpt: isAcceptance(status) ? '' : await readExcerpt(response), retryAfterMs };
    } catch (error) {
      if (timeout.aborted) return { kind: 'unreachable', detail: `no answer within ${timeoutMs} ms` };
      if (error instanceof AddressRefused) return { kind: 'address-refused', detail: error.message };
      return { kind: 'unreachable', detail: reasonOf(error as NodeJS.ErrnoException) };
    }
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }
}

export function isAcceptance(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Reads it to its end, so that the connection can be used again; a long one ends its connection. */
function discard(response: IncomingMessage): void {
  let length = 0;
  response.on('error', () => {});
  response.on('data', ({ length: more }: Buffer) => {
    length += more;
    if (length > ANSWER_BYTES_MAX) response.destroy();
  });
}

/** Reads the beginning; a longer answer ends its connection. */
async function readExcerpt(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    // Leaving the loop destroys the response.
    if (length > ANSWER_BYTES_MAX) break;
  }
  const text = Buffer.concat(chunks).toString('utf8', 0, ANSWER_BYTES_MAX);
  return length > ANSWER_BYTES_MAX ? text.replace(CUT_WORD, '') : text;
}

/** Seconds or a date, as HTTP has it. */
function retryAfter(header: string | undefined): number | null {
  if (header === undefined) return null;
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, RETRY_AFTER_MS_MAX) : null;
}

/** An attempt on several addresses fails with all their errors. */
function reasonOf(error: NodeJS.ErrnoException): string {
  const all = error instanceof AggregateError ? (error.errors as Error[]).map(({ message }) => message).join('; ') : '';
  return all || error.message || error.code || 'the connection failed';
}
