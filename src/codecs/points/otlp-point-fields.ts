import type { Attributes } from '../../records/series/resource-labels.ts';
import { anyValueText, readEntry } from './otlp-any-value.ts';
import { ATTRIBUTES_MAX, type OtlpPoint } from './otlp-metric.ts';
import { fixed64Field, lengthField, type ProtobufReader } from './protobuf-reader.ts';

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
