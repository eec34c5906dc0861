import type { FastifyReply } from 'fastify';
import { DEFAULT_MODEL, modelParams, type ServedModels } from '../../models/served-models.ts';

/** RFC 7234's code of a warning that does not go away by itself. */
const PERSISTENT = 299;

/** What of a request says how far it forecasts. */
interface HorizonRequest {
  readonly h?: number;
  readonly freq: string;
  readonly model?: string;
  /** `h` is a placeholder then. */
  readonly full_history?: boolean;
}

/**
 * Says in a header when a request asks its model for more steps than that is meant to forecast; it is answered all the same.
 * @param models those of the request, with the fine-tuned one that it names
 */
export function warnBeyondHorizon(reply: FastifyReply, request: HorizonRequest, models: ServedModels): void {
  const { h, freq, model: name = DEFAULT_MODEL, full_history: whole = false } = request;
  const model = models.finetuned ?? models.find(name);
  if (h === undefined || whole || model === null) return;
  const { horizon } = modelParams(model, freq);
  if (h <= horizon) return;
  const text = `h ${h} is beyond the horizon of the model at this frequency (${horizon}); forecasts may be less accurate`;
  reply.header('warning', `${PERSISTENT} tidewatch "${text}"`);
}
