import type { AppServices } from '../exchange/app-services.ts';
import type { App } from '../exchange/fastify-app.ts';
import { requireKey } from '../exchange/require-key.ts';
import { addAccountRoutes } from './account-routes.ts';
import { addAdminRoutes } from './admin-routes.ts';
import { addBacktestRoute } from './backtest-route.ts';
import { addConsoleRoutes, addConsoleSession } from './console-routes.ts';
import { addCrossValidationRoute } from './cross-validation-route.ts';
import { addDetectorRoutes } from './detector-routes.ts';
import { addEventRoutes } from './event-routes.ts';
import { addFinetuningRoutes } from './finetuning-routes.ts';
import { addForecastRoute } from './forecast-route.ts';
import { addHealthRoutes } from './health-routes.ts';
import { addInSampleRoutes } from './in-sample-routes.ts';
import { addJobRoutes } from './job-routes.ts';
import { addLiveRoute } from './live-route.ts';
import { addModelRoutes } from './model-routes.ts';
import { addOnlineDetectionRoute } from './online-detection-route.ts';
import { addSeriesRoutes } from './series-routes.ts';
import { addServiceRoutes } from './service-routes.ts';
import { addSessionRoutes } from './session-routes.ts';

/** Adds every endpoint; those in `secured` need a key. */
export async function addRoutes(app: App, services: AppServices): Promise<void> {
  addHealthRoutes(app);
  addConsoleRoutes(app, services);
  await app.register(async (secured: App) => {
    requireKey(secured, services);
    addConsoleSession(secured, services);
    addAccountRoutes(secured, services);
    addAdminRoutes(secured, services);
    addSessionRoutes(secured, services);
    addModelRoutes(secured, services);
    addOnlineDetectionRoute(secured, services);
    addInSampleRoutes(secured, services);
    addForecastRoute(secured, services);
    addCrossValidationRoute(secured, services);
    addFinetuningRoutes(secured, services);
    addJobRoutes(secured, services);
    addSeriesRoutes(secured, services);
    addEventRoutes(secured, services);
    addLiveRoute(secured, services);
    addDetectorRoutes(secured, services);
    addServiceRoutes(secured, services);
    addBacktestRoute(secured, services);
  });
}
