import { usageOf } from '../../../store/usage.ts';
import { answers, Detail, UsageAnswer } from '../../wire/schema/answer-schemas.ts';
import type { AppServices } from '../exchange/app-services.ts';
import type { App } from '../exchange/fastify-app.ts';
import { callerOf } from '../exchange/require-key.ts';

/** Public clients show this text. */
const WELCOME = { detail: 'Happy Forecasting! :)' };

/** Endpoints about the key of the caller. */
export function addAccountRoutes(app: App, { store, nowMs }: AppServices): void {
  const schema = {
    operationId: 'validateApiKey',
    summary: 'Checks the API key',
    response: answers(Detail),
  };
  app.get('/validate_api_key', { schema }, async () => WELCOME);
  app.post(
    '/validate_token',
    {
      schema: { ...schema, operationId: 'validateToken', summary: 'Checks the API key (for old clients)' },
    },
    async () => WELCOME,
  );
  app.get(
    '/usage',
    {
      schema: {
        operationId: 'getUsage',
        summary: 'Answered requests and their tokens in the current minute and month (UTC)',
        response: answers(UsageAnswer),
      },
    },
    async (request) => usageOf(store, callerOf(request).key.id, nowMs()),
  );
}
