import event from '../../schemas/anomaly-event.schema.json' with { type: 'json' };
import incident from '../../schemas/anomaly-incident.schema.json' with { type: 'json' };
import score from '../../schemas/anomaly-score.schema.json' with { type: 'json' };

/** JSON Schema, as far as the published schemas of records use it. */
export interface FieldSchema {
  readonly type: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: FieldSchemas;
  readonly additionalProperties?: boolean | FieldSchema;
  readonly items?: FieldSchema;
}

export type FieldSchemas = Readonly<Record<string, FieldSchema>>;

/** Every field of a record in the order it is written, by its published schema. */
export const RECORD_FIELDS = {
  'anomaly-score': score.properties,
  'anomaly-event': event.properties,
  'anomaly-incident': incident.properties,
} satisfies Readonly<Record<string, FieldSchemas>>;

/** Records that a worker, or a process of incidents, writes. */
export type RecordName = keyof typeof RECORD_FIELDS;
