import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import { exampleOf } from './openapi-examples.ts';

/** What openapi.json says besides the endpoints. Groups are shown in this order. */
const DOCUMENT = {
  openapi: '3.1.0' as const,
  info: {
    title: 'Tidewatch',
    version: '2',
    description:
      'Anomaly detection and forecasting on request. Many series travel as one flat `y` with `sizes`. Fields that are not named here are ignored. Bodies are JSON of at most 200 MiB, as they are or compressed with gzip, deflate or zstd; every answer is JSON, and those other than success carry `detail`.',
  },
  tags: [
    { name: 'Detection', description: 'Are the values as they should be?' },
    { name: 'Forecasting', description: 'What follows, and what would have been forecast.' },
    { name: 'Jobs', description: 'The same, asked for now and fetched later.' },
    { name: 'Fine-tuning', description: 'Models tuned to series of yours.' },
    { name: 'Service', description: 'Keys, usage and models.' },
  ],
  components: { securitySchemes: { key: { type: 'http' as const, scheme: 'bearer' } } },
};

const TAGS: readonly (readonly [RegExp, string])[] = [
  [/\/(?:async|jobs)\b/, 'Jobs'],
  [/\/finetune/, 'Fine-tuning'],
  [/anomaly_detection/, 'Detection'],
  [/forecast|cross_validation/, 'Forecasting'],
];

/** What a status says, whatever was asked. */
const STATUS_DESCRIPTIONS: Readonly<Record<string, string>> = {
  200: 'The answer',
  202: 'The job was taken',
  204: 'It is gone',
  400: 'The body cannot be read as JSON, or not be inflated',
  401: 'The key is missing or wrong',
  403: 'The key may not use that model',
  404: 'There is nothing of that name',
  413: 'The body is too large',
  415: 'The body is no JSON, or in an unknown encoding',
  422: 'What is wrong with the request, field by field',
  429: 'Too many calls or jobs at once; `retry-after` says when to come again. With the code A21: the credits are used up',
  503: 'Too much is asked at once; `retry-after` says when to come again',
};

/** How the description is made of the routes: each gets its group, and its body an example that can be sent as it is. */
export const OPENAPI: FastifyDynamicSwaggerOptions = {
  openapi: DOCUMENT,
  transform({ schema, url }) {
    if (schema === undefined || schema.hide === true) return { schema: schema ?? {}, url };
    const tag = TAGS.find(([pattern]) => pattern.test(url))?.[1] ?? 'Service';
    const example = schema.body === undefined ? null : exampleOf(url);
    const body = example === null ? {} : { body: { ...(schema.body as object), examples: [example] } };
    const response = Object.entries((schema.response ?? {}) as Record<string, object>).map(([status, answer]) => {
      return [status, { ...answer, description: STATUS_DESCRIPTIONS[status] }];
    });
    return { schema: { ...schema, tags: [tag], ...body, response: Object.fromEntries(response) }, url };
  },
};
