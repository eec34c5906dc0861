import type { Client, SchemaInfo } from '@confluentinc/schemaregistry/dist/schemaregistry-client.js';
import type { RegistryConfig } from '../../config/config.ts';
import { ServiceError } from '../../ops/service-error.ts';
import { reasonOf } from './quoted.ts';
import type { FetchedSchema, SchemaDefinition, SchemaRegistrar, SchemaSource, SchemaType } from './schema-source.ts';
import type { SchemaKey } from './wire-header.ts';

/** Time-out of a request to the registry. */
const REGISTRY_TIMEOUT_MS = 10_000;

/** Most references of a schema, and the longest chain of them. */
const REFERENCES_MAX = 100;

const SCHEMA_NOT_FOUND = 40403;

export interface SchemaRegistry extends SchemaSource, SchemaRegistrar {
  close(): Promise<void>;
}

/** A registry with Confluent's API. Requests are not retried here: the partition task retries. */
export async function connectRegistry(config: RegistryConfig): Promise<SchemaRegistry> {
  // Imported only where a registry is used. The main entry of the package would load three cloud KMS clients.
  const { SchemaRegistryClient } = await import('@confluentinc/schemaregistry/dist/schemaregistry-client.js');
  const client = new SchemaRegistryClient({
    baseURLs: [config.url],
    createAxiosDefaults: { timeout: REGISTRY_TIMEOUT_MS },
    maxRetries: 0,
    ...(config.username !== undefined && {
      basicAuthCredentials: {
        credentialsSource: 'USER_INFO' as const,
        userInfo: `${config.username}:${config.password ?? ''}`,
      },
    }),
  });
  return {
    fetch: (schema) => fetchSchema(client, schema),
    register: (subject, schema) => registerSchema(client, subject, schema),
    close: async () => client.close(),
  };
}

async function fetchSchema(client: Client, schema: SchemaKey): Promise<FetchedSchema | null> {
  try {
    const isId = typeof schema === 'number';
    const info = await (isId ? client.getBySubjectAndId('', schema) : client.getByGuid(schema));
    const references = new Map<string, string>();
    await collectReferences(client, info, references);
    return {
      type: schemaTypeOf(info),
      text: info.schema,
      references: Array.from(references, ([name, text]) => ({ name, text })),
    };
  } catch (error) {
    if (errorCodeOf(error) === SCHEMA_NOT_FOUND) return null;
    // A registry without GUIDs answers as a wrong URL does. There, it would not know ids either.
    if (typeof schema === 'string' && statusOf(error) === 404) return fetchSchema(client, 1).then(() => null);
    throw unavailable(`cannot fetch schema ${schema}`, error);
  }
}

/** Depth first, so that each schema comes after the ones it needs. */
async function collectReferences(client: Client, info: SchemaInfo, found: Map<string, string>): Promise<void> {
  for (const { name, subject, version } of info.references ?? []) {
    if (found.has(name)) continue;
    if (found.size >= REFERENCES_MAX) throw new Error(`more than ${REFERENCES_MAX} schema references`);
    const referred = await client.getSchemaMetadata(subject, version, true);
    await collectReferences(client, referred, found);
    found.set(name, referred.schema);
  }
}

async function registerSchema(client: Client, subject: string, schema: SchemaDefinition): Promise<number> {
  try {
    return await client.register(subject, { schemaType: schema.type, schema: schema.text }, false);
  } catch (error) {
    const status = statusOf(error);
    if (status === 409 || status === 422) {
      const text = `the registry refuses the schema of ${subject}: ${reasonOf(error)}`;
      throw new ServiceError('schema-refused', text, { retryable: false });
    }
    throw unavailable(`cannot register the schema of ${subject}`, error);
  }
}

function schemaTypeOf(info: SchemaInfo): SchemaType {
  const { schemaType = 'AVRO' } = info;
  if (schemaType === 'AVRO' || schemaType === 'JSON' || schemaType === 'PROTOBUF') return schemaType;
  throw new Error(`unknown schema type ${schemaType}`);
}

/**
 * The client's error is not kept as the cause: it contains the request with the password. Only refused credentials are
 * not retryable.
 */
function unavailable(what: string, error: unknown): ServiceError {
  const status = statusOf(error);
  const retryable = status !== 401 && status !== 403;
  return new ServiceError('registry-unavailable', `${what}: ${reasonOf(error)}`, { retryable });
}

function statusOf(error: unknown): number | null {
  return error instanceof Error && 'status' in error ? Number(error.status) : null;
}

function errorCodeOf(error: unknown): number | null {
  return error instanceof Error && 'errorCode' in error ? Number(error.errorCode) : null;
}
