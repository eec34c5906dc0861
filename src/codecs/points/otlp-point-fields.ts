import type { Attributes } from '../../records/series/resource-labels.ts';
import { ATTRIBUTES_MAX, type OtlpPoint } from './otlp-metric.ts';
import { fixed64Field, lengthField, type ProtobufReader, varintField } from './protobuf-reader.ts';

/** Lists and maps within each other. What is deeper is omitted. */
const DEPTH_MAX = 8;

/** AnyValue as JSON has it. */
export interface JsonValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: number | bigint | string;
  readonly doubleValue?: number | string;
  readonly arrayValue?: { readonly values?: readonly JsonValue[] };
  readonly kvlistValue?: { readonly values?: readonly { readonly key?: string; readonly value?: JsonValue }[] };
  /** Base64. */
  readonly bytesValue?: string;
}

/** The value of a label: scalars as they are, lists and maps as JSON. One text in both encodings. */
export function anyValueText(value: JsonValue): string {
  const { stringValue, boolValue, intValue, doubleValue, bytesValue } = value;
  return String(stringValue ?? boolValue ?? doubleValue ?? intValue ?? bytesValue ?? nestedText(value, 0));
}

/** Empty where it is nothing. */
function nestedText({ arrayValue, kvlistValue }: JsonValue, depth: number): string {
  if (depth === DEPTH_MAX) return '';
  if (arrayValue !== undefined)
    return `[${listOf(arrayValue.values)
      .map((item) => jsonText(item ?? {}, depth))
      .join(',')}]`;
  if (kvlistValue === undefined) return '';
  const entries = listOf(kvlistValue.values).map(({ key = '', value = {} }) => {
    return `${JSON.stringify(String(key))}:${jsonText(value ?? {}, depth)}`;
  });
  return `{${entries.sort().join(',')}}`;
}

function jsonText(value: JsonValue, depth: number): string {
  const { stringValue, bytesValue } = value;
  const text = stringValue ?? bytesValue;
  if (text !== undefined) return JSON.stringify(text);
  return value.arrayValue === undefined && value.kvlistValue === undefined
    ? anyValueText(value) || 'null'
    : nestedText(value, depth + 1);
}

function listOf<T>(values: readonly T[] | undefined): readonly T[] {
  return Array.isArray(values) ? values : [];
}

/** AnyValue as Protobuf has it. */
function readAnyValue(reader: ProtobufReader, depth = 0): JsonValue {
  let value: JsonValue = {};
  reader.fields(reader.end(), (tag) => {
    if (tag === lengthField(1)) value = { stringValue: reader.string() };
    else if (tag === varintField(2)) value = { boolValue: reader.varint() !== 0 };
    else if (tag === varintField(3)) value = { intValue: String(reader.bigInt64()) };
    else if (tag === fixed64Field(4)) value = { doubleValue: reader.double() };
    else if (tag === lengthField(7)) value = { bytesValue: reader.base64() };
    else if ((tag === lengthField(5) || tag === lengthField(6)) && depth <= DEPTH_MAX) {
      const isList = tag === lengthField(5);
      const items: { key?: string; value?: JsonValue }[] = [];
      reader.each(lengthField(1), reader.end(), () => {
        items.push(isList ? { value: readAnyValue(reader, depth + 1) } : readEntry(reader, depth + 1));
      });
      value = isList
        ? { arrayValue: { values: items.map((item) => item.value ?? {}) } }
        : { kvlistValue: { values: items } };
    } else return false;
    return true;
  });
  return value;
}

/** KeyValue. */
function readEntry(reader: ProtobufReader, depth = 0): { readonly key: string; readonly value: JsonValue } {
  let [key, value]: [string, JsonValue] = ['', {}];
  reader.fields(reader.end(), (tag) => {
    if (tag === lengthField(1)) key = reader.string();
    else if (tag === lengthField(2)) value = readAnyValue(reader, depth);
    else return false;
    return true;
  });
  return { key, value };
}

/** Fields of all points. Encoders write attributes together; otherwise all from the first to the last are read. */
export class PointFields implements OtlpPoint {
  readonly #reader: ProtobufReader;
  readonly #tag: number;
  #from = -1;
  #to = -1;
  #key: string | null = null;
  startUnixNano = 0;
  timeUnixNano = 0;
  flags = 0;

  constructor(reader: ProtobufReader, attributesField: number) {
    this.#reader = reader;
    this.#tag = lengthField(attributesField);
  }

  get attributesKey(): string {
    const key = this.#key ?? (this.#from === -1 ? '' : this.#reader.bytesAt(this.#from, this.#to));
    this.#key = key;
    return key;
  }

  readonly attributes = (): Attributes => {
    const { at } = this.#reader;
    const [from, to] = [Math.max(this.#from, 0), Math.max(this.#to, 0)];
    const attributes = readAttributes(this.#reader, { from, to, tag: this.#tag });
    this.#reader.at = at;
    return attributes;
  };

  /** Called at the field behind `tag`, which begins at `start`. */
  read(tag: number, start: number): boolean {
    if (tag === TIME) this.timeUnixNano = this.#reader.fixed64();
    else if (tag === START) this.startUnixNano = this.#reader.fixed64();
    else if (tag === this.#tag) {
      this.#reader.skip(tag);
      if (this.#from === -1) this.#from = start;
      this.#to = this.#reader.at;
    } else return false;
    return true;
  }
}

const [START, TIME] = [fixed64Field(2), fixed64Field(3)];

/** Reads a point: what all have, and what `read` knows by its tag. */
export function readPlaced(reader: ProtobufReader, point: PointFields, read: (tag: number) => boolean): void {
  const end = reader.end();
  while (reader.at < end) {
    const start = reader.at;
    const tag = reader.varint();
    if (!point.read(tag, start) && !read(tag)) reader.skip(tag);
  }
  reader.ended(end);
}

/** The fields of a tag between two places. Beyond ATTRIBUTES_MAX they are not read. */
export function readAttributes(
  reader: ProtobufReader,
  { from, to, tag }: { readonly from: number; readonly to: number; readonly tag: number },
): Attributes {
  const attributes: (readonly [string, string])[] = [];
  reader.at = from;
  reader.fields(to, (found) => {
    if (found !== tag || attributes.length === ATTRIBUTES_MAX) return false;
    const { key, value } = readEntry(reader);
    attributes.push([key, anyValueText(value)]);
    return true;
  });
  return attributes;
}
