import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import { withComponents } from './openapi-components.ts';
import { exampleOf } from './openapi-examples.ts';

/** The parts of openapi.json that do not come from routes. Tags are shown in this order. */
const DOCUMENT = {
  openapi: '3.1.0' as const,
  info: {
    title: 'Tidewatch',
    version: '2',
    description:
      'Anomaly detection and forecasting of time series. A request has its series as one flat `y` with `sizes`. ' +
      'Unknown fields are ignored. A body is JSON of at most 200 MiB, plain or compressed with gzip, deflate or ' +
      'zstd. Every answer is JSON. Every error has `detail`.',
  },
  tags: [
    { name: 'Detection', description: 'Anomaly detection.' },
    { name: 'Forecasting', description: 'Forecasts and cross-validation.' },
    { name: 'Jobs', description: 'Asynchronous requests of every task.' },
    { name: 'Fine-tuning', description: 'Models that are fine-tuned on your series.' },
    { name: 'History', description: 'What was scored on the stream: series, events, detectors.' },
    { name: 'Service', description: 'API keys, usage and models.' },
    {
      name: 'Administration',
      description: 'Keys, credits, usage and the audit log, for admins; sessions of the console.',
    },
  ],
  servers: [{ url: '/', description: 'This service' }],
  components: { securitySchemes: { key: { type: 'http' as const, scheme: 'bearer' } } },
};

const TAGS: readonly (readonly [RegExp, string])[] = [
  [/^\/v1\/(?:keys|sessions|audit)\b/, 'Administration'],
  [/\/(?:async|jobs)\b/, 'Jobs'],
  [/\/finetune/, 'Fine-tuning'],
  [/anomaly_detection/, 'Detection'],
  [/forecast|cross_validation|explain|simulate/, 'Forecasting'],
  [/^\/v1\/(?!service|dead)/, 'History'],
];

const STATUS_DESCRIPTIONS: Readonly<Record<string, string>> = {
  200: 'The answer',
  202: 'The job was accepted',
  204: 'Deleted',
  400: 'The body is not valid JSON, or cannot be decompressed',
  401: 'The key is missing or unknown',
  403: 'The role of the key does not suffice, or the key may not use this model',
  404: 'Not found',
  409: 'The first request under this `Idempotency-Key` is not answered yet; retry after `retry-after`',
  413: 'The body is too large',
  415: 'The body is not JSON, or its encoding is unknown',
  422: 'Invalid fields, each with its location',
  429: 'A limit of the key was reached; retry after `retry-after`. Code A21: the credits are exhausted',
  503: 'Overloaded, or the store is unavailable; retry after `retry-after`',
};

const POINTS_DESCRIPTIONS: typeof STATUS_DESCRIPTIONS = {
  ...STATUS_DESCRIPTIONS,
  400: 'The body is unreadable, or points of it are unusable',
  409: 'As 400, to a body in zstd: vmagent does not repeat it',
  415: 'The encoding or the message of the body is unknown',
};

/** Options of the generator: every route gets its tag, and every body an example that can be sent as it is. */
export const OPENAPI: FastifyDynamicSwaggerOptions = {
  openapi: DOCUMENT,
  transform({ schema, url, route }) {
    const rules = route.config?.rules;
    if (rules?.operation === undefined) return { schema: { ...schema, hide: true }, url };
    const { id: operationId, summary } = rules.operation;
    const tag = TAGS.find(([pattern]) => pattern.test(url))?.[1] ?? 'Service';
    const example = schema?.body === undefined ? null : exampleOf(url);
    const body = example === null ? {} : { body: { ...(schema.body as object), examples: [example] } };
    const texts = rules.rawBody === 'points' ? POINTS_DESCRIPTIONS : STATUS_DESCRIPTIONS;
    const response = Object.entries((schema?.response ?? {}) as Record<string, object>).map(([status, answer]) => {
      return [status, { ...answer, description: texts[status] }];
    });
    const security = rules.role === null ? {} : { security: [{ key: [] }] };
    return {
      schema: {
        ...schema,
        operationId,
        summary,
        ...security,
        tags: [tag],
        ...body,
        response: Object.fromEntries(response),
      },
      url,
    };
  },
  transformObject: (document) =>
    'openapiObject' in document ? withComponents(document.openapiObject) : document.swaggerObject,
};
