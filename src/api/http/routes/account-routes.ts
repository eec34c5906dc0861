import { usageOf } from '../../../store/usage.ts';
import { Detail, described, UsageAnswer } from '../../wire/schema/answer-schemas.ts';
import type { AppServices } from '../exchange/app-services.ts';
import type { App } from '../exchange/fastify-app.ts';
import { callerOf } from '../exchange/require-key.ts';

/** Public clients show this text. */
const WELCOME = { detail: 'Happy Forecasting! :)' };

/** Endpoints about the key of the caller. */
export function addAccountRoutes(app: App, { store, nowMs }: AppServices): void {
  app.get('/validate_api_key', described('validateApiKey', Detail), async () => WELCOME);
  app.post('/validate_token', described('validateToken', Detail), async () => WELCOME);
  app.get('/usage', described('getUsage', UsageAnswer), async (request) =>
    usageOf(store, callerOf(request).key.id, nowMs()),
  );
}
