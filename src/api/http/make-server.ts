import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { ConnectionLimits } from './connection-limits.ts';
import type { TlsMaterial } from './tls-files.ts';

/** Longer than the idle connections of load balancers, so that these close them. */
const KEPT_OPEN_MS = 72_000;

/** The server of HTTP, or of HTTPS where it has a certificate. What is used of them is the same. */
export function makeServer(handle: RequestListener, limits: ConnectionLimits, tls: TlsMaterial | null): Server {
  const options = {
    headersTimeout: limits.headersMsMax,
    requestTimeout: limits.requestMsMax,
    connectionsCheckingInterval: limits.checkMs,
    keepAliveTimeout: KEPT_OPEN_MS,
    // Refused with a body as any other request.
    requireHostHeader: false,
  };
  const answer = fewWaiting(handle, limits.waitingMax);
  if (tls === null) return createServer(options, answer);
  return createTlsServer({ ...tls, ...options, handshakeTimeout: limits.headersMsMax }, answer);
}

/**
 * Closes connections that send requests faster than they are answered. Hundreds fit into one packet, and Node parses
 * them all before it looks at another connection.
 */
function fewWaiting(handle: RequestListener, waitingMax: number): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  return (request, response) => {
    const { socket } = request;
    const before = waiting.get(socket) ?? 0;
    if (before >= waitingMax) {
      socket.destroy();
      return;
    }
    waiting.set(socket, before + 1);
    response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
    handle(request, response);
  };
}
