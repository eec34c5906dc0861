import Type from 'typebox';
import type { App } from '../exchange/fastify-app.ts';

const Health = Type.Object({ status: Type.Literal('ok') });

/** Endpoints without a key. */
export function addHealthRoutes(app: App): void {
  app.get(
    '/health',
    { schema: { operationId: 'getHealth', summary: 'Answers while the service runs', response: { 200: Health } } },
    async () => {
      return { status: 'ok' as const };
    },
  );
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
}
