export type SchemaType = 'AVRO' | 'JSON' | 'PROTOBUF';

export interface SchemaDefinition {
  readonly type: SchemaType;
  readonly text: string;
}

/** A schema with those it refers to, each before the ones that need it. */
export interface FetchedSchema extends SchemaDefinition {
  readonly references: readonly { readonly name: string; readonly text: string }[];
}

/** Where schemas come from: the registry, or a table in tests. */
export interface SchemaSource {
  /** null when the id is unknown there. Rejects with `registry-unavailable` when nobody could tell. */
  fetch(schemaId: number): Promise<FetchedSchema | null>;
}

/** Where the schemas of our own records are made known. */
export interface SchemaRegistrar {
  /**
   * The id of `schema` under `subject`, registered if it is new.
   * Rejects with `schema-refused` when it is incompatible with an earlier one, with `registry-unavailable` when it is out of reach.
   */
  register(subject: string, schema: SchemaDefinition): Promise<number>;
}

/** Subject of the schema of a topic's values (the TopicNameStrategy). */
export function valueSubject(topic: string): string {
  return `${topic}-value`;
}
