import type { FastifyReply } from 'fastify';
import { HttpProblem } from '../../wire/problem.ts';
import { bodyAnswers, Detail } from '../../wire/schema/answer-schemas.ts';
import { BacktestAnswer, BacktestRequest } from '../../wire/schema/backtest-schema.ts';
import type { AppServices } from '../exchange/app-services.ts';
import { clientGone } from '../exchange/client-gone.ts';
import type { App } from '../exchange/fastify-app.ts';

/** A file that somebody drops onto the console. */
export function addBacktestRoute(app: App, { scoreFile }: Pick<AppServices, 'scoreFile'>): void {
  app.post(
    '/v1/backtest',
    {
      schema: {
        operationId: 'backtestFile',
        summary: 'Scores a CSV file as the stream would, in a sandbox, and returns scores and events',
        body: BacktestRequest,
        response: { ...bodyAnswers(BacktestAnswer), 404: Detail },
      },
    },
    async (request, reply) => {
      if (scoreFile === undefined) throw new HttpProblem(404, 'This service scores no files');
      const { name, csv, ...settings } = request.body;
      const outcome = await scoreFile({ name, csv, settings }, clientGone(reply));
      reply.header('content-type', 'application/json; charset=utf-8');
      // Passed on as the sandbox wrote it: it may be long.
      return (reply as FastifyReply).send(outcome.kind === 'answer' ? outcome.json : JSON.stringify(outcome));
    },
  );
}
