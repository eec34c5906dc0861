import type { App } from './app.ts';
import { DEFAULT_MODEL, modelParams, type ServedModels } from './served-models.ts';

/** RFC 7234's code of a warning that does not go away by itself. */
const PERSISTENT = 299;

/** Says in a header when a request asks a model for more steps than it is meant to forecast; it is answered all the same. */
export function warnBeyondHorizon(app: App, models: ServedModels): void {
  app.addHook('preHandler', async ({ body }, reply) => {
    const text = beyondHorizon(body, models);
    if (text !== null) reply.header('warning', `${PERSISTENT} tidewatch "${text}"`);
  });
}

function beyondHorizon(body: unknown, models: ServedModels): string | null {
  if (typeof body !== 'object' || body === null) return null;
  const { h, freq, model: name = DEFAULT_MODEL } = body as Readonly<Record<string, unknown>>;
  if (typeof h !== 'number' || typeof freq !== 'string' || typeof name !== 'string') return null;
  const model = models.find(name);
  if (model === null) return null;
  const { horizon } = modelParams(model, freq);
  if (h <= horizon) return null;
  return `h ${h} is beyond the horizon of the model at this frequency (${horizon}); forecasts may be less accurate`;
}
