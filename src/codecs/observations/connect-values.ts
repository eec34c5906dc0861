import { VARIABLE_DECIMAL } from '../formats/avro-names.ts';
import { compileRecordPath, type PathSegment, parseRecordPath, type RecordAccessor } from './record-path.ts';

/** A schema of Kafka Connect, as its JSON converter writes it next to the payload. */
interface ConnectSchema {
  readonly type?: string;
  readonly name?: string;
  readonly parameters?: { readonly scale?: string };
  readonly fields?: readonly (ConnectSchema & { readonly field?: string })[];
  readonly items?: ConnectSchema;
  readonly values?: ConnectSchema;
}

export const DECIMAL = 'org.apache.kafka.connect.data.Decimal';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** Characters of the bytes of a decimal: more digits than any database has. */
const DECIMAL_LENGTH_MAX = 4_096;

/**
 * Reads the value at a path of a record, below `payload` by the schema next to it: a decimal is text of base64 there,
 * which may look like a number. Throws a RangeError where `path` is none.
 */
export function compileConnectPath(path: string): RecordAccessor {
  const valueAt = compileRecordPath(path);
  const [first, ...segments] = parseRecordPath(path) ?? [];
  if (first !== 'payload') return valueAt;
  return (record) => {
    const value = valueAt(record);
    if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) return value;
    const schema = schemaAt((record as { readonly schema?: ConnectSchema | null }).schema, segments);
    return schema === undefined ? value : plainOf(value, schema);
  };
}

function schemaAt(
  schema: ConnectSchema | null | undefined,
  segments: readonly PathSegment[],
): ConnectSchema | undefined {
  let found = schema ?? undefined;
  for (const segment of segments) {
    if (found?.type === 'struct') found = fieldOf(found, segment);
    else found = found?.type === 'array' ? found.items : found?.values;
  }
  return found;
}

function fieldOf({ fields }: ConnectSchema, name: PathSegment): ConnectSchema | undefined {
  return Array.isArray(fields) ? fields.find(({ field }) => field === name) : undefined;
}

/** The parameters of a decimal in a schema of Connect. */
export interface ConnectDecimal {
  readonly name?: string;
  readonly parameters?: { readonly scale?: string };
  readonly isBytes: boolean;
}

/** Decimals as text of their digits; other bytes as text that is no number. undefined if it is neither. */
export function decimalOf(value: unknown, { name, parameters, isBytes }: ConnectDecimal): string | undefined {
  if (typeof value === 'string') {
    if (!isBytes) return undefined;
    return (name === DECIMAL ? decimalText(value, Number(parameters?.scale)) : null) ?? `bytes ${value}`;
  }
  if (typeof value !== 'object' || value === null || name !== VARIABLE_DECIMAL) return undefined;
  const { scale, value: bytes } = value as { readonly scale?: unknown; readonly value?: unknown };
  return decimalText(bytes, Number(scale)) ?? undefined;
}

/** Decimals, and objects with such values. */
function plainOf(value: unknown, schema: ConnectSchema): unknown {
  const decimal = decimalOf(value, { ...schema, isBytes: schema.type === 'bytes' });
  if (decimal !== undefined || typeof value !== 'object' || value === null || Array.isArray(value)) {
    return decimal ?? value;
  }
  const entries = Object.entries(value).map(([key, one]) => {
    const own = schema.type === 'struct' ? fieldOf(schema, key) : schema.values;
    return [key, own === undefined ? one : plainOf(one, own)] as const;
  });
  return Object.fromEntries(entries);
}

/** null if it is none. */
function decimalText(bytes: unknown, scale: number): string | null {
  if (typeof bytes !== 'string' || bytes.length > DECIMAL_LENGTH_MAX || !BASE64.test(bytes)) return null;
  if (!Number.isInteger(scale)) return null;
  const hex = Buffer.from(bytes, 'base64').toString('hex');
  if (hex === '') return null;
  const unscaled = BigInt.asIntN(hex.length * 4, BigInt(`0x${hex}`));
  return scale === 0 ? String(unscaled) : `${unscaled}e${-scale}`;
}
