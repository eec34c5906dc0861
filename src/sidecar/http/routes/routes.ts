import type { AppServices } from '../exchange/app-services.ts';
import type { App } from '../exchange/fastify-app.ts';
import { requireKey } from '../exchange/require-key.ts';
import { addAccountRoutes } from './account-routes.ts';
import { addCrossValidation } from './cross-validation-route.ts';
import { addFinetuning } from './finetuning-routes.ts';
import { addForecast } from './forecast-route.ts';
import { addHealthRoutes } from './health-routes.ts';
import { addInSampleRoutes } from './in-sample-routes.ts';
import { addJobRoutes } from './job-routes.ts';
import { addModelRoutes } from './model-routes.ts';
import { addOnlineDetection } from './online-detection-route.ts';

/** Adds every endpoint; those in `secured` need a key. */
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
