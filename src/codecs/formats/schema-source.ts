import type { SchemaKey } from './wire-header.ts';

export type SchemaType = 'AVRO' | 'JSON' | 'PROTOBUF';

export interface SchemaDefinition {
  readonly type: SchemaType;
  readonly text: string;
}

/** A schema with its references. Each reference comes before the ones that need it. */
export interface FetchedSchema extends SchemaDefinition {
  readonly references: readonly { readonly name: string; readonly text: string }[];
}

/** The source of schemas: the registry, or a table in tests. */
export interface SchemaSource {
  /** null when the registry does not know the key. Rejects with `registry-unavailable` when it is out of reach. */
  fetch(schema: SchemaKey): Promise<FetchedSchema | null>;
}

/** Registers the schemas of our own records. */
export interface SchemaRegistrar {
  /**
   * Returns the id of `schema` under `subject`, and registers the schema if it is new. Rejects with `schema-refused`
   * when it is incompatible with an earlier one, and with `registry-unavailable` when it is out of reach.
   */
  register(subject: string, schema: SchemaDefinition): Promise<number>;
}

/** The subject of a topic's values, by the TopicNameStrategy. */
export function valueSubject(topic: string): string {
  return `${topic}-value`;
}
