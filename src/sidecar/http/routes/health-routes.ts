import Type from 'typebox';
import type { App } from '../exchange/fastify-app.ts';

const Health = Type.Object({ status: Type.Literal('ok') });

/** What anybody may ask. */
export function addHealthRoutes(app: App): void {
  app.get('/health', { schema: { summary: 'Whether the service answers', response: { 200: Health } } }, async () => {
    return { status: 'ok' as const };
  });
  app.get('/openapi.json', { schema: { summary: 'This description', hide: true } }, async () => app.swagger());
}
