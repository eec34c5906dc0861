import type { FetchedSchema } from '../formats/schema-source.ts';
import { type ConnectDecimal, DECIMAL, decimalOf } from './connect-values.ts';

/** A JSON Schema of Kafka Connect's converter. */
interface JsonSchema {
  readonly $ref?: string;
  readonly title?: string;
  readonly 'connect.type'?: string;
  readonly 'connect.parameters'?: ConnectDecimal['parameters'];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly oneOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly type?: unknown;
}

/** The parts of a schema that have bytes or decimals. */
const MARKS = /connect\.(?:type|data\.Decimal)|VariableScaleDecimal/;
/** Longest chain of references and choices of one place. */
const CHAIN_MAX = 20;

/**
 * Decodes the decimals of a parsed record: text of base64, which may look like a number. null if the schema has
 * none, as most. Throws where it is no JSON.
 */
export function connectDecimals({ text, references }: FetchedSchema): ((record: unknown) => unknown) | null {
  if (![text, ...references.map((reference) => reference.text)].some((one) => MARKS.test(one))) return null;
  const root = JSON.parse(text) as JsonSchema;
  const referred = new Map(references.map(({ name, text: json }) => [name, JSON.parse(json) as JsonSchema]));

  function resolved(schema: JsonSchema | undefined, chain = 0): JsonSchema | undefined {
    if (typeof schema !== 'object' || schema === null || chain > CHAIN_MAX) return undefined;
    const { $ref, oneOf, anyOf } = schema;
    if (typeof $ref === 'string') {
      const [file, pointer = ''] = $ref.split('#');
      return resolved(atPointer(file === '' ? root : referred.get(file), pointer), chain + 1);
    }
    const choices = (oneOf ?? anyOf)?.filter(({ type }) => type !== 'null');
    return choices?.length === 1 ? resolved(choices[0], chain + 1) : schema;
  }

  function decoded(value: unknown, within: JsonSchema | undefined): unknown {
    const schema = value === null ? undefined : resolved(within);
    if (schema === undefined || (typeof value !== 'string' && typeof value !== 'object')) return value;
    const { title, properties = {}, additionalProperties, items } = schema;
    const decimal = decimalOf(value, {
      ...(title !== undefined && { name: title }),
      parameters: schema['connect.parameters'] ?? {},
      isBytes: schema['connect.type'] === 'bytes' || title === DECIMAL,
    });
    if (decimal !== undefined || typeof value === 'string') return decimal ?? value;
    if (Array.isArray(value)) return value.map((item) => decoded(item, items));
    const others = typeof additionalProperties === 'object' ? additionalProperties : undefined;
    return Object.fromEntries(
      Object.entries(value as object).map(([key, one]) => [
        key,
        decoded(one, Object.hasOwn(properties, key) ? properties[key] : others),
      ]),
    );
  }
  return (record) => decoded(record, root);
}

function atPointer(root: JsonSchema | undefined, pointer: string): JsonSchema | undefined {
  let found: unknown = root;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    found = typeof found === 'object' && found !== null ? (found as Record<string, unknown>)[key] : undefined;
  }
  return found as JsonSchema | undefined;
}
