import type { AppServices } from '../app-services.ts';
import { requireKey } from '../caller.ts';
import type { App } from '../fastify-app.ts';
import { addAccountRoutes } from './account.ts';
import { addCrossValidation } from './cross-validation.ts';
import { addFinetuning } from './finetuning.ts';
import { addForecast } from './forecast.ts';
import { addHealthRoutes } from './health.ts';
import { addInSampleRoutes } from './in-sample.ts';
import { addJobRoutes } from './jobs.ts';
import { addModelRoutes } from './models.ts';
import { addOnlineDetection } from './online-detection.ts';

/** Every endpoint; those below `secured` need a key. */
export async function addRoutes(app: App, services: AppServices): Promise<void> {
  addHealthRoutes(app);
  await app.register(async (secured: App) => {
    requireKey(secured, services.keys);
    addAccountRoutes(secured, services);
    addModelRoutes(secured, services);
    addOnlineDetection(secured, services);
    addInSampleRoutes(secured, services);
    addForecast(secured, services);
    addCrossValidation(secured, services);
    addFinetuning(secured, services);
    addJobRoutes(secured, services);
  });
}
