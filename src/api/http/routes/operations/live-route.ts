import { LiveReaders, READERS_OF_OWNER_MAX } from '../../../operations/live-readers.ts';
import { operationsOf } from '../../../operations/operations.ts';
import { overloaded, tooManyCalls } from '../../../wire/problem.ts';
import { countOf, matchOf } from '../../../wire/query-values.ts';
import { describedMedia } from '../../../wire/schema/answer-schemas.ts';
import { LiveQuery } from '../../../wire/schema/operations/history-schema.ts';
import { PAGE } from '../../../wire/schema/query-fields.ts';
import type { App, AppServices } from '../../exchange/app-services.ts';
import { callerOf, isStillAdmitted } from '../../exchange/require-key.ts';

/** Until a place of the owner may be free. */
const RETRY_MS = 5_000;
const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // A proxy would hold messages back.
  'x-accel-buffering': 'no',
};

const DESCRIPTION =
  'Server-sent events. `score`, once a second: `at`, `observations`, `alarms`, `series_observed`, and `series`: the ' +
  'worst of those that were observed, as GET /v1/series lists them. `series`: every score of the series that is ' +
  'followed. `event` and `incident`: a revision, as in its topic; with `match`, of ' +
  'an incident that it chooses an origin of, or an event that has joined. `notice`: why the connection ends.';

export function addLiveRoute(app: App, { operations, keys }: Pick<AppServices, 'operations' | 'keys'>): void {
  const readers = operations === null ? null : new LiveReaders(operations.feed);
  app.addHook('preClose', async () => readers?.close());
  app.get(
    '/v1/live',
    describedMedia('text/event-stream', { description: DESCRIPTION, querystring: LiveQuery }, 404),
    async (request, reply) => {
      const { query } = request;
      const match = matchOf(query.match, operationsOf(operations));
      if (readers === null || readers.full) throw overloaded('Too many read live, try again');
      const { owner } = callerOf(request).key;
      if (readers.ofOwner(owner) >= READERS_OF_OWNER_MAX) {
        throw tooManyCalls(`Keys of one owner may read live ${READERS_OF_OWNER_MAX} times at once`, RETRY_MS);
      }
      if (request.method === 'HEAD') return reply.headers(HEADERS).send('');
      reply.hijack();
      reply.raw.writeHead(200, HEADERS);
      const selection = { series: query.series ?? null, match, limit: countOf(query.limit, PAGE) };
      const reader = { owner, isAdmitted: () => isStillAdmitted(request, { keys }) };
      readers.add(reply.raw, reader, selection);
      return reply;
    },
  );
}
