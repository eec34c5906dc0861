import type { FastifyRequest } from 'fastify';
import { modelsOfKey, type ServedModels } from '../../models/served-models.ts';
import { loadTunedWeights, withWeights } from '../../models/tuned-models.ts';
import type { AppServices } from './app-services.ts';
import { callerOf } from './require-key.ts';

/**
 * The models of a request: those of its key, and the fine-tuned model that its body names. Throws an HttpProblem: 404
 * when the owner has no such model, 403 when the key may not use its base model.
 */
export async function requestModels(services: AppServices, request: FastifyRequest): Promise<ServedModels> {
  const { finetuned_model_id: id } = request.body as { readonly finetuned_model_id?: string | null };
  const { key } = callerOf(request);
  const allowed = modelsOfKey(services.models, key);
  if (!id) return allowed;
  const { model, weights } = await loadTunedWeights(services, key.owner, id);
  return withWeights(allowed, model, weights);
}
