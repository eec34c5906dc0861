import type { FastifyReply } from 'fastify';
import { DEFAULT_MODEL, modelsOfKey } from '../../../models/served-models.ts';
import { backtestTokens, observationsAtMost } from '../../../operations/scoring-price.ts';
import { described } from '../../../wire/schema/answer-schemas.ts';
import { BacktestAnswer, BacktestRequest } from '../../../wire/schema/operations/backtest-schema.ts';
import { type AppServices, backtestsOf } from '../../exchange/app-services.ts';
import type { App } from '../../exchange/fastify-app.ts';
import { callerOf } from '../../exchange/require-key.ts';
import { chargedAnswer } from '../../exchange/send-answer.ts';

/** A file of the caller's own. Its lines are held, its observations are charged, and problems cost nothing. */
export function addBacktestRoute(app: App, services: AppServices): void {
  app.post('/v1/backtest', described(BacktestAnswer, { body: BacktestRequest }, 404), async (request, reply) => {
    const backtests = backtestsOf(services);
    const { key } = callerOf(request);
    // Throws where the key may not use it.
    modelsOfKey(services.models, key).find(DEFAULT_MODEL);
    const { name, csv, ...settings } = request.body;
    const outcome = await chargedAnswer(
      { services, request, reply },
      {
        tokens: backtestTokens(observationsAtMost(csv)),
        run: (signal) => backtests.backtest({ name, csv, settings }, { owner: key.owner, signal }),
        due: (answered) => (answered.kind === 'problems' ? null : backtestTokens(answered.observations)),
      },
    );
    reply.header('content-type', 'application/json; charset=utf-8');
    // Passed on as the sandbox wrote it: it may be long.
    return (reply as FastifyReply).send(outcome.kind === 'report' ? outcome.json : JSON.stringify(outcome));
  });
}
