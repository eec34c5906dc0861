import swaggerUi from '@fastify/swagger-ui';
import type { App } from './exchange/app-services.ts';

/** The page loads and calls this origin only. Its scripts set styles of single elements. */
const POLICY = {
  'default-src': ["'self'"],
  'img-src': ["'self'", 'data:'],
  'style-src-attr': ["'unsafe-inline'"],
  'object-src': ["'none'"],
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
};

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#0b3d5c"/>
<path d="M3 19c4-8 6-8 9 0s5 8 8 0 5-8 9 0" fill="none" stroke="#7fd4f5" stroke-width="3" stroke-linecap="round"/>
<circle cx="25" cy="8" r="3" fill="#ff7a59"/>
</svg>`;

/** Swagger UI has no option for a viewport; without it small screens get the desktop layout. */
const VIEWPORT = `
const viewport = { name: 'viewport', content: 'width=device-width, initial-scale=1' };
document.head.append(Object.assign(document.createElement('meta'), viewport));
`;

const STYLE = `
.swagger-ui .scheme-container {
  margin: 0 0 20px; padding: 15px 0; box-shadow: none; border-bottom: 1px solid rgba(59, 65, 81, .3); background: none;
}
.swagger-ui .info { margin: 30px 0 15px; }
@media (max-width: 640px) {
  .swagger-ui .wrapper { padding: 0 10px; }
  .swagger-ui .opblock .opblock-summary-control { flex-wrap: wrap; gap: 6px 0; }
  .swagger-ui .opblock .opblock-summary-path-description-wrapper { flex-basis: 100%; padding: 0 4px; }
  .swagger-ui .opblock .opblock-summary-path { max-width: none; word-break: break-word; }
  .swagger-ui .opblock-tag { flex-wrap: wrap; }
  .swagger-ui .opblock-tag small { flex-basis: 100%; padding: 0; order: 3; }
  .swagger-ui .opblock-body { overflow-x: auto; }
}
`;

/** Serves Swagger UI at `/docs`, without external resources. */
export async function addDocsPage(app: App): Promise<void> {
  const svg = { filename: 'icon.svg', rel: 'icon', sizes: 'any', type: 'image/svg+xml', content: ICON };
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: POLICY,
    theme: {
      title: 'Tidewatch',
      favicon: [svg],
      css: [{ filename: 'page.css', content: STYLE }],
      js: [{ filename: 'viewport.js', content: VIEWPORT }],
    },
    uiConfig: {
      layout: 'BaseLayout',
      tryItOutEnabled: true,
      displayRequestDuration: true,
      defaultModelsExpandDepth: -1,
    },
  });
}
