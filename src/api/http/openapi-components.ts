import { STATUS_CODES } from 'node:http';
import type { TSchema } from 'typebox';
import * as admin from '../wire/schema/admin-schema.ts';
import * as answers from '../wire/schema/answer-schemas.ts';
import * as detectors from '../wire/schema/operations/detectors-schema.ts';
import * as events from '../wire/schema/operations/event-schema.ts';
import * as history from '../wire/schema/operations/history-schema.ts';
import * as mutes from '../wire/schema/operations/mute-schema.ts';
import * as sent from '../wire/schema/operations/sent-schema.ts';
import * as service from '../wire/schema/operations/service-schema.ts';
import * as explain from '../wire/schema/tasks/explain-schema.ts';
import * as finetune from '../wire/schema/tasks/finetune-schema.ts';
import * as forecast from '../wire/schema/tasks/forecast-schema.ts';
import * as inSample from '../wire/schema/tasks/in-sample-schema.ts';
import * as jobList from '../wire/schema/tasks/job-list-schema.ts';
import * as jobs from '../wire/schema/tasks/job-schema.ts';
import * as modelParams from '../wire/schema/tasks/model-params-schema.ts';
import * as online from '../wire/schema/tasks/online-detection-schema.ts';
import * as series from '../wire/schema/tasks/series-schema.ts';
import * as simulate from '../wire/schema/tasks/simulate-schema.ts';
import * as tunedModels from '../wire/schema/tasks/tuned-model-schema.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };

/** Shorter schemas stay inline. */
const COMPONENT_LENGTH_MIN = 60;

const MODULES: readonly object[] = [
  series,
  online,
  inSample,
  forecast,
  finetune,
  explain,
  simulate,
  tunedModels,
  jobs,
  jobList,
  modelParams,
  history,
  events,
  mutes,
  sent,
  detectors,
  service,
  admin,
  answers,
];

/** All exported schemas by their canonical JSON. The name of the export is the name of the component. */
function namedSchemas(): ReadonlyMap<string, string> {
  const named = new Map<string, string>();
  const exported = MODULES.flatMap((module) => Object.entries(module) as [string, unknown][]);
  for (const [name, schema] of exported) {
    if (!isSchema(schema)) continue;
    const text = textOf(plainJson(schema));
    if (text.length >= COMPONENT_LENGTH_MIN && !named.has(text)) named.set(text, name);
  }
  return named;
}

function isSchema(value: unknown): value is TSchema {
  return typeof value === 'object' && value !== null && ('type' in value || 'anyOf' in value || 'enum' in value);
}

/** Drops the annotations of TypeBox. */
function plainJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value, (key, item) => (key.startsWith('~') ? undefined : item)));
}

/** Canonical JSON: keys are sorted. */
function textOf(value: Json): string {
  return JSON.stringify(value, (_, item: Json) => {
    return isObject(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))) : item;
  });
}

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Replaces inline schemas and error responses by references to named components. */
export function withComponents(document: object): object {
  const names = namedSchemas();
  const schemas: Record<string, Json> = {};
  const responses: Record<string, Json> = {};

  function referred(value: Json): Json {
    if (Array.isArray(value)) return value.map(referred);
    if (!isObject(value)) return value;
    const { description, ...schema } = value;
    const name = names.get(textOf(value)) ?? names.get(textOf(schema));
    if (name === undefined) return children(value);
    const own = names.has(textOf(value)) ? value : schema;
    schemas[name] ??= children(own);
    const ref = { $ref: `#/components/schemas/${name}` };
    return own === value || description === undefined ? ref : { ...ref, description };
  }
  const children = (value: JsonObject): Json =>
    Object.fromEntries(
      Object.entries(alternatives(value)).map(([key, item]) => [
        key,
        key === 'example' || key === 'examples' ? item : referred(item),
      ]),
    );

  function response(status: string, given: Json): Json {
    const { description, content } = given as { readonly description: string; readonly content?: JsonObject };
    if (content === undefined) return given;
    const json = content['application/json'] as { readonly schema: JsonObject } | undefined;
    // A file, or a stream of events.
    if (json === undefined) return given;
    const { schema } = json;
    // Fastify copies the description of a response from its schema.
    const { description: _, ...plain } = schema;
    const answered = { description, content: { 'application/json': { schema: referred(plain) } } };
    if (status.startsWith('2')) return answered;
    const text = textOf(answered);
    const known = Object.keys(responses).find((name) => textOf(responses[name] ?? null) === text);
    const name = known ?? freeName(responses, (STATUS_CODES[status] ?? status).replaceAll(' ', ''));
    responses[name] ??= answered;
    return { $ref: `#/components/responses/${name}` };
  }

  const { paths, components, ...rest } = plainJson(document) as {
    readonly paths: Record<string, Record<string, { readonly responses: JsonObject; readonly [field: string]: Json }>>;
    readonly components: JsonObject;
    readonly [field: string]: Json | object;
  };
  const described = mapValues(paths, (methods) =>
    mapValues(methods, ({ responses: own, ...operation }) => ({
      ...(referred(operation) as object),
      responses: Object.fromEntries(Object.entries(own).map(([status, each]) => [status, response(status, each)])),
    })),
  );
  return {
    ...rest,
    components: { ...components, schemas: sorted(schemas), responses: sorted(responses) },
    paths: described,
  };
}

const OF_TEXTS = ['pattern', 'minLength', 'maxLength'];

/** A schema of texts and objects in one as `anyOf`: generators of clients have no type for the first form. */
function alternatives({ type, ...schema }: JsonObject): JsonObject {
  if (!Array.isArray(type) || !type.includes('object') || !type.includes('string')) {
    return type === undefined ? schema : { type, ...schema };
  }
  const entries = Object.entries(schema);
  const part = (own: Json, isOwn: (key: string) => boolean) => {
    return { type: own, ...Object.fromEntries(entries.filter(([key]) => isOwn(key))) };
  };
  return {
    anyOf: [
      part('string', (key) => OF_TEXTS.includes(key)),
      part('object', (key) => !OF_TEXTS.includes(key)),
      ...type.filter((each) => each !== 'object' && each !== 'string').map((each) => ({ type: each })),
    ],
  };
}

function freeName(used: object, name: string): string {
  for (let i = 1; ; i++) {
    const tried = i === 1 ? name : `${name}_${i}`;
    if (!(tried in used)) return tried;
  }
}

function mapValues<T, U>(values: Readonly<Record<string, T>>, of: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, of(value)]));
}

function sorted<T>(values: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)));
}
