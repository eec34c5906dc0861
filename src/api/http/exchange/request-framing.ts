import type { IncomingMessage } from 'node:http';
import { HttpProblem } from '../../wire/problem.ts';
import type { App } from './app-services.ts';

/** Host and port, or nothing. */
const HOST = /^[^\s/?#@\\,]*$/;

/**
 * Refuses a request that a proxy in front may have read as another one: of another host, or with another end. The
 * connection is closed, since what follows may be the rest of it.
 */
export function refuseAmbiguousRequests(app: App): void {
  app.addHook('onRequest', async ({ raw }) => {
    const problem = hostProblem(raw) ?? transferProblem(raw);
    if (problem !== null) throw new HttpProblem(400, problem, { headers: { connection: 'close' } });
  });
}

function hostProblem(raw: IncomingMessage): string | null {
  const hosts = valuesOf(raw, 'host');
  const isOld = raw.httpVersion === '1.0' && hosts.length === 0;
  if (!isOld && hosts.length !== 1) return `A request must have one Host header, got ${hosts.length}`;
  return hosts.every((host) => HOST.test(host)) ? null : 'The Host header must be a host, with or without a port';
}

function transferProblem(raw: IncomingMessage): string | null {
  const codings = valuesOf(raw, 'transfer-encoding');
  if (codings.length === 0) return null;
  if (raw.httpVersion === '1.0') return 'HTTP/1.0 has no Transfer-Encoding';
  const isChunked = codings.length === 1 && codings[0].trim().toLowerCase() === 'chunked';
  return isChunked ? null : 'Transfer-Encoding must be chunked, and nothing else; use Content-Encoding to compress';
}

/** Values of every header of this name. Node joins or drops repeated ones elsewhere. */
function valuesOf({ rawHeaders }: IncomingMessage, name: string): string[] {
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1].toLowerCase() === name);
}
