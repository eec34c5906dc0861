import type { FastifyRequest } from 'fastify';
import type { ServedModels } from '../../models/served-models.ts';
import { modelsForKey } from '../../models/tuned-models.ts';
import type { AppServices } from './app-services.ts';
import { callerOf } from './require-key.ts';

/** The models of a request: those of its key, and the fine-tuned model that its body names. */
export function requestModels(services: AppServices, request: FastifyRequest): Promise<ServedModels> {
  const { finetuned_model_id: id } = request.body as { readonly finetuned_model_id?: string | null };
  return modelsForKey(services, callerOf(request).key, id);
}
