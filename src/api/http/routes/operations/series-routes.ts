import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { operationsOf } from '../../../operations/operations.ts';
import { shownSeries } from '../../../operations/shown-records.ts';
import { HttpProblem } from '../../../wire/problem.ts';
import { countOf, cursorOf, cursorText, matchOf, queryTime } from '../../../wire/query-values.ts';
import { described } from '../../../wire/schema/answer-schemas.ts';
import {
  GroupsAnswer,
  GroupsQuery,
  RECENT,
  SCORE_POINTS,
  ScoresQuery,
  SeriesPageAnswer,
  SeriesQuery,
  SeriesScoresAnswer,
} from '../../../wire/schema/operations/history-schema.ts';
import { ById, PAGE } from '../../../wire/schema/query-fields.ts';
import { jsonPieces } from '../../../wire/wire-answer.ts';
import type { App, AppServices } from '../../exchange/app-services.ts';

/** Series, their scores, and groups. */
export function addSeriesRoutes(app: App, { operations }: Pick<AppServices, 'operations'>): void {
  app.get('/v1/series', described(SeriesPageAnswer, { querystring: SeriesQuery }, 404), async ({ query }) => {
    const { detector = null, group = null, search = null, sort = 'grade' } = query;
    const known = operationsOf(operations);
    const { series, total, next } = await known.reader.listSeries({
      detector,
      group,
      match: matchOf(query.match, known),
      search,
      sort,
      alarm: query.alarm === 'true',
      recent: countOf(query.recent, RECENT),
      limit: countOf(query.limit, PAGE),
      after: cursorOf(query.cursor, sort === 'name' ? ['string'] : ['number', 'string']),
    });
    const listed = series.map((row) => {
      const recent = query.recent && { recent: [...row.recent] };
      return { ...shownSeries(row), ended: row.hasEnded, ...recent };
    });
    return { series: listed, total, next_cursor: cursorText(next) };
  });
  app.get(
    '/v1/series/:id/scores',
    described(SeriesScoresAnswer, { params: ById, querystring: ScoresQuery }, 404),
    async ({ params, query }, reply) => {
      const wanted = { series: params.id, fromMs: queryTime(query.from), toMs: queryTime(query.to) };
      const pointsMax = countOf(query.points, SCORE_POINTS);
      const scores = await operationsOf(operations).reader.scores({ ...wanted, pointsMax });
      if (scores === null) throw new HttpProblem(404, `There are no scores of series ${params.id}`);
      const { series, detector, group, fromMs: from, toMs: to, bucketMs, columns } = scores;
      const { valueMin, valueMax, timestamp: timestampMs, ...same } = columns;
      const renamed = { timestampMs, value_min: valueMin, value_max: valueMax };
      const range = { from, to, bucket_ms: bucketMs };
      return sendColumns(reply, { series, detector, group, ...range, ...renamed, ...same });
    },
  );
  app.get(
    '/v1/groups',
    described(GroupsAnswer, { querystring: GroupsQuery }, 404),
    async ({ query: { detector = null, match, limit } }) => {
      const selection = { detector, match: matchOf(match), limit: countOf(limit, PAGE) };
      const rows = await operationsOf(operations).reader.listGroups(selection);
      return { groups: [...rows] };
    },
  );
}

/** In pieces: a long answer is written while it is read. */
function sendColumns(reply: FastifyReply, answer: object): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(Readable.from(jsonPieces(answer)));
}
