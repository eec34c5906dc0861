import type { App } from './fastify-app.ts';
import { rulesOf } from './route-rules.ts';

/** Browsers use TLS to this host for so long. They ignore it where the connection has none. */
const TLS_ONLY_S = 31_536_000;

/** Headers of an answer without a route, such as to an undecodable path: no hook runs for it. */
export const PROTECTED = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };

/**
 * Sets the headers of every answer, also of those that are written past the framework: nobody guesses its type, and
 * nobody keeps it unless the route allows it.
 */
export function protectAnswers(app: App): void {
  app.addHook('onRequest', async (request, { raw }) => {
    raw.setHeader('x-content-type-options', 'nosniff');
    // `https` also where a trusted proxy reports it.
    if (request.protocol === 'https') raw.setHeader('strict-transport-security', `max-age=${TLS_ONLY_S}`);
    if (rulesOf(request)?.cache !== 'own') raw.setHeader('cache-control', 'no-store');
  });
}
