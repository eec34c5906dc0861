import type { FastifyReply } from 'fastify';
import { DEFAULT_MODEL, modelParams, type ServedModels } from '../../models/served-models.ts';

/** Warn-code 299 of RFC 7234: miscellaneous persistent warning. */
const PERSISTENT = 299;

/** The fields that define the horizon of a request. */
interface HorizonRequest {
  readonly h?: number;
  readonly freq: string;
  readonly model?: string;
  /** `h` is ignored then. */
  readonly full_history?: boolean;
}

/**
 * Adds a `Warning` header when `h` exceeds the horizon of the model. The request is answered all the same.
 * @param models those of the request, with its fine-tuned model
 */
export function warnBeyondHorizon(reply: FastifyReply, request: HorizonRequest, models: ServedModels): void {
  const { h, freq, model: name = DEFAULT_MODEL, full_history: whole = false } = request;
  const model = models.finetuned ?? models.find(name);
  if (h === undefined || whole || model === null) return;
  const { horizon } = modelParams(model, freq);
  if (h <= horizon) return;
  const beyond = `h ${h} is beyond the horizon of the model at this frequency (${horizon})`;
  const text = `${beyond}; forecasts may be less accurate`;
  reply.header('warning', `${PERSISTENT} tidewatch "${text}"`);
}
