import Type from 'typebox';
import type { App, AppServices } from '../exchange/app-services.ts';
import { addAccountRoutes } from './access/account-routes.ts';
import { addAdminRoutes } from './access/admin-routes.ts';
import { addConsoleRoutes } from './access/console-routes.ts';
import { addSessionRoutes } from './access/session-routes.ts';
import { addMcpRoute } from './mcp-route.ts';
import { addChangeRoutes } from './operations/change-routes.ts';
import { addDetectorRoutes } from './operations/detector-routes.ts';
import { addEventRoutes } from './operations/event-routes.ts';
import { addHolidayRoute } from './operations/holiday-route.ts';
import { addIncidentRoutes } from './operations/incident-routes.ts';
import { addLiveRoute } from './operations/live-route.ts';
import { addMuteRoutes, addSentRoute } from './operations/mute-routes.ts';
import { addSeriesRoutes } from './operations/series-routes.ts';
import { addServiceRoutes } from './operations/service-routes.ts';
import { INFLUX_VERSION } from './points/influx-routes.ts';
import { addPointRoutes } from './points/point-routes.ts';
import { addFinetuningRoutes } from './tasks/finetuning-routes.ts';
import { addJobRoutes } from './tasks/job-routes.ts';
import { addTaskRoutes } from './tasks/task-routes.ts';
import { addBacktestRoute, addWhatIfRoute } from './tasks/what-if-route.ts';

export function addRoutes(app: App, services: AppServices): void {
  addHealthRoute(app);
  // Written once: anybody may request it.
  let description: string | null = null;
  app.get('/openapi.json', async (_request, reply) => {
    description ??= JSON.stringify(app.swagger());
    return reply.type('application/json; charset=utf-8').send(description);
  });
  addConsoleRoutes(app, services);
  addAccountRoutes(app, services);
  addAdminRoutes(app, services);
  addSessionRoutes(app, services);
  addTaskRoutes(app, services);
  addFinetuningRoutes(app, services);
  addJobRoutes(app, services);
  addSeriesRoutes(app, services);
  addEventRoutes(app, services);
  addIncidentRoutes(app, services);
  addMuteRoutes(app, services);
  addChangeRoutes(app, services);
  addSentRoute(app, services);
  addLiveRoute(app, services);
  addHolidayRoute(app, services);
  addDetectorRoutes(app, services);
  addServiceRoutes(app, services);
  addBacktestRoute(app, services);
  addWhatIfRoute(app, services);
  addPointRoutes(app, services);
  addMcpRoute(app);
}

/** As InfluxDB answers it: its clients ask before they write. */
const Health = Type.Object({
  name: Type.String(),
  message: Type.String(),
  status: Type.Literal('pass'),
  checks: Type.Array(Type.Object({})),
  version: Type.String({ description: 'The version of InfluxDB whose writes are accepted' }),
});

export function addHealthRoute(app: App): void {
  app.get('/health', { schema: { response: { 200: Health } } }, async () => {
    const message = 'ready for queries and writes';
    return { name: 'tidewatch', message, status: 'pass' as const, checks: [], version: INFLUX_VERSION };
  });
}
