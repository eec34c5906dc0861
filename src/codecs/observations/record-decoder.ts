import type { RecordFormat, RecordMapping } from '../../config/config.ts';
import { isPointsFormat } from '../../config/rekeyed-input.ts';
import { ServiceError } from '../../ops/service-error.ts';
import type { DeadLetterReason } from '../../records/dead-letter.ts';
import { compileAvro, type ReadRecord } from '../formats/avro.ts';
import { compileProtobuf } from '../formats/protobuf.ts';
import { reasonOf } from '../formats/quoted.ts';
import type { FetchedSchema, SchemaSource, SchemaType } from '../formats/schema-source.ts';
import { type EncodedRecord, readFrame, type SchemaKey, USE_ID } from '../formats/wire-header.ts';
import { connectDecimals } from './connect-json-schema.ts';
import type { Decoded, Undecodable } from './decoded.ts';
import { type FlatFields, flatJson } from './flat-json.ts';
import { parseJson } from './lenient-json.ts';
import { compileFlatMapping, compileMapping, type FlatMapping, type MappingOptions } from './mapping.ts';

/**
 * Size of the schema cache. Beyond it, schemas that no record named for `SCHEMA_IDLE_MS` are removed, and fetched again
 * when needed.
 */
export const SCHEMAS_MAX = 1_000;

/** A schema that was named more recently stays cached in any case: a batch that is being decoded may need it. */
export const SCHEMA_IDLE_MS = 60_000;

/**
 * How long an unknown schema id is not requested again. A replica of the registry may learn of the schema a moment
 * later.
 */
export const SCHEMA_UNKNOWN_MS = 30_000;

/** Decodes input records. Synchronous, once the schemas that they name are loaded. */
export interface RecordDecoder<D = Decoded> {
  /** The schema that must be loaded before this record can be decoded; null when it can be. */
  missingSchema(record: EncodedRecord, nowMs: number): SchemaKey | null;
  /** Rejects with `registry-unavailable` (retryable) when the registry is out of reach. An unknown key is no error. */
  loadSchemas(schemas: Iterable<SchemaKey>, nowMs: number): Promise<void>;
  /** Never throws because of the contents of a record. Throws `schema-not-loaded` when its schema was not loaded. */
  decode(record: EncodedRecord, nowMs: number): D | Undecodable;
}

type Schema =
  | { readonly kind: 'readable'; readonly read: ReadRecord }
  | { readonly kind: 'refused'; readonly reason: DeadLetterReason; readonly detail: string; readonly untilMs: number };

interface LoadedSchema {
  readonly schema: Schema;
  /** The last time at which a record named it. */
  namedMs: number;
}

/**
 * Decodes records of one observation. `schemas` may be null for formats that are decoded without a schema (json,
 * json-schema).
 */
export function createRecordDecoder(
  mapping: RecordMapping,
  { schemas = null, ...options }: MappingOptions & { readonly schemas?: SchemaSource | null } = {},
): RecordDecoder {
  const read = compileMapping(mapping, options);
  if (mapping.format !== 'json' && (mapping.format !== 'json-schema' || schemas !== null))
    return createDecoder(mapping.format, schemas, read);
  return withoutSchemas(mapping.format, read, compileFlatMapping(mapping, options));
}

type ReadParsed<D> = (record: unknown, nowMs: number) => D;

/** Decodes records by what `read` makes of a parsed one. */
export function createDecoder<D>(
  format: RecordMapping['format'],
  schemas: SchemaSource | null,
  read: ReadParsed<D>,
): RecordDecoder<D> {
  if (isPointsFormat(format)) throw new TypeError(`${format} records hold points of many series`);
  const schemaType = format === 'json-schema' && schemas === null ? null : SCHEMA_TYPES[format];
  if (schemaType === null) return withoutSchemas(format, read);
  if (schemas === null) throw new TypeError(`${format} records need a schema registry`);
  return withSchemas(schemaType, schemas, read);
}

/** The schema type that decoding a format needs. JSON Schema names the decimals of Kafka Connect alone. */
const SCHEMA_TYPES: Readonly<Record<RecordFormat, SchemaType | null>> = {
  json: null,
  'json-schema': 'JSON',
  avro: 'AVRO',
  protobuf: 'PROTOBUF',
};

/** @param flat the same for most records, in half of the time */
function withoutSchemas<D>(
  format: RecordFormat,
  read: ReadParsed<D>,
  flat:
    | (Pick<FlatMapping, 'names' | 'exact'> & { readonly read: (fields: FlatFields, nowMs: number) => D })
    | null = null,
): RecordDecoder<D> {
  const fieldsOf = flatJson(flat?.names ?? [], flat?.exact);
  return {
    missingSchema: () => null,
    loadSchemas: async () => {},
    decode({ value, headers }, nowMs) {
      const frame = format === 'json' ? { body: value } : readFrame(value, headers);
      if (typeof frame === 'string') return unreadable(frame);
      const { body } = frame;
      const fields = flat === null ? null : fieldsOf(body);
      if (flat !== null && fields !== null) return flat.read(fields, nowMs);
      let record: unknown;
      try {
        record = parseJson(body.toString());
      } catch (error) {
        return unreadable(reasonOf(error));
      }
      return read(record, nowMs);
    },
  };
}

function withSchemas<D>(schemaType: SchemaType, source: SchemaSource, read: ReadParsed<D>): RecordDecoder<D> {
  const loaded = new Map<SchemaKey, LoadedSchema>();

  /** True if records of this schema can be decoded without a request to the registry. */
  function isLoaded(schemaId: SchemaKey, nowMs: number): boolean {
    const found = loaded.get(schemaId);
    if (found === undefined) return false;
    found.namedMs = nowMs;
    return found.schema.kind === 'readable' || nowMs < found.schema.untilMs;
  }

  function removeIdle(nowMs: number): void {
    for (const [schemaId, { namedMs }] of loaded) {
      if (loaded.size <= SCHEMAS_MAX) return;
      if (namedMs < nowMs - SCHEMA_IDLE_MS) loaded.delete(schemaId);
    }
  }

  return {
    missingSchema({ value, headers }, nowMs) {
      const frame = readFrame(value, headers);
      return typeof frame === 'string' || isLoaded(frame.schema, nowMs) ? null : frame.schema;
    },
    async loadSchemas(schemaIds, nowMs) {
      for (const schemaId of new Set(schemaIds)) {
        if (isLoaded(schemaId, nowMs)) continue;
        const schema = compileSchema(schemaId, { wanted: schemaType, schema: await source.fetch(schemaId), nowMs });
        loaded.set(schemaId, { schema, namedMs: nowMs });
      }
      removeIdle(nowMs);
    },
    decode({ value, headers }, nowMs) {
      const frame = readFrame(value, headers);
      if (typeof frame === 'string') return unreadable(frame);
      const { schema: schemaId, body, messageType } = frame;
      const schema = loaded.get(schemaId)?.schema;
      if (schema === undefined) {
        throw new ServiceError('schema-not-loaded', `schema ${schemaId} is not loaded`, { retryable: true });
      }
      if (schema.kind === 'refused') {
        return { kind: 'dead-letter', reason: schema.reason, detail: schema.detail, series: null };
      }
      let record: unknown;
      try {
        record = schema.read(body, messageType);
      } catch (error) {
        return unreadable(`not a record of schema ${schemaId}: ${reasonOf(error)}`);
      }
      return read(record, nowMs);
    },
  };
}

const COMPILERS: Readonly<Record<SchemaType, (schema: FetchedSchema) => ReadRecord>> = {
  AVRO: compileAvro,
  PROTOBUF: compileProtobuf,
  JSON(schema) {
    const decode = connectDecimals(schema) ?? ((record: unknown) => record);
    return (body) => decode(parseJson(body.toString()));
  },
};

interface FoundSchema {
  readonly wanted: SchemaType;
  readonly schema: FetchedSchema | null;
  readonly nowMs: number;
}

function compileSchema(schemaId: SchemaKey, { wanted, schema, nowMs }: FoundSchema): Schema {
  const untilMs = nowMs + SCHEMA_UNKNOWN_MS;
  const refused = (reason: DeadLetterReason, detail: string): Schema => ({
    kind: 'refused',
    reason,
    detail,
    untilMs,
  });
  if (schema === null) {
    const remark = typeof schemaId === 'string' ? ', a GUID' : `: Apicurio's clients need ${USE_ID}`;
    return refused('schema-unknown', `the registry does not know schema ${schemaId}${remark}`);
  }
  if (schema.type !== wanted) {
    return refused('record-unreadable', `schema ${schemaId} is of type ${schema.type}, not ${wanted}`);
  }
  try {
    return { kind: 'readable', read: COMPILERS[wanted](schema) };
  } catch (error) {
    return refused('record-unreadable', `schema ${schemaId} cannot be used: ${reasonOf(error)}`);
  }
}

function unreadable(detail: string): Undecodable {
  return { kind: 'dead-letter', reason: 'record-unreadable', detail, series: null };
}
