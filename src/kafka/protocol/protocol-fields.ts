import { readInt64 } from '../batch/record-batch-decoder.ts';
import type { Headroom } from './broker-connection.ts';

/**
 * A field of a request or an answer. Schemas name their fields in the order of Kafka's documentation. Compact versions
 * of a request have lengths as uvarints of n + 1, where 0 is null, and each structure ends with its tagged fields; we
 * send none, and skip those of an answer. Earlier versions have lengths of two bytes (strings) and four (arrays), where
 * -1 is null.
 */
export interface Field<T> {
  write(writer: FieldWriter, value: T): void;
  read(reader: FieldReader): T;
}

export type StructFields<T> = { readonly [Name in keyof T]: Field<T[Name]> };

export type AnswerFields<T> = { readonly [Name in keyof T]: Pick<Field<T[Name]>, 'read'> };

export const i8: Field<number> = {
  write: (writer, value) => writer.bytes(1).writeInt8(value),
  read: (reader) => reader.bytes(1).readInt8(),
};

export const i16: Field<number> = {
  write: (writer, value) => writer.bytes(2).writeInt16BE(value),
  read: (reader) => reader.bytes(2).readInt16BE(),
};

export const i32: Field<number> = {
  write: (writer, value) => writer.bytes(4).writeInt32BE(value),
  read: (reader) => reader.bytes(4).readInt32BE(),
};

export const i64: Field<number> = {
  write: (writer, value) => writer.bytes(8).writeBigInt64BE(BigInt(value)),
  read: (reader) => readInt64(reader.bytes(8), 0),
};

/** In hexadecimal. */
export const uuid: Field<string> = {
  write: (writer, value) => writer.bytes(16).write(value, 'hex'),
  read: (reader) => reader.bytes(16).toString('hex'),
};

export const string: Field<string | null> = {
  write(writer, value) {
    const length = value === null ? -1 : Buffer.byteLength(value);
    writer.length(length, i16);
    if (value !== null) writer.bytes(length).write(value);
  },
  read(reader) {
    const length = reader.length(i16);
    return length < 0 ? null : reader.bytes(length).toString();
  },
};

/** A view of the answer. null is read as no bytes. */
export const bytes: Field<Buffer> = {
  write(writer, value) {
    writer.length(value.length, i32);
    writer.view(value);
  },
  read: (reader) => reader.bytes(Math.max(0, reader.length(i32))),
};

/** null is read as an array without elements. */
export function array<T>(element: Field<T>): Field<readonly T[]> {
  return {
    write(writer, values) {
      writer.length(values.length, i32);
      for (const value of values) element.write(writer, value);
    },
    read: (reader) => Array.from({ length: Math.max(0, reader.length(i32)) }, () => element.read(reader)),
  };
}

export function struct<T>(fields: StructFields<T>): Field<T> {
  return {
    write(writer, values) {
      writeFields(writer, fields, values);
      writer.tags();
    },
    read(reader) {
      const values = readFields(reader, fields);
      reader.tags();
      return values;
    },
  };
}

export function byTopic<T>(partition: Field<T>) {
  return array(struct({ topic: string, partitions: array(partition) }));
}

/** A field of later versions: earlier ones do not have it, and `absent` is read. */
export function since<T>(version: number, field: Field<T>, absent: T): Field<T> {
  return {
    write(writer, value) {
      if (writer.version >= version) field.write(writer, value);
    },
    read: (reader) => (reader.version >= version ? field.read(reader) : absent),
  };
}

/** A tagged field at the end of a structure, whose other tagged fields are skipped. `absent` if there is none. */
export function tagged<T>(tag: number, field: Pick<Field<T>, 'read'>, absent: T): Pick<Field<T>, 'read'> {
  return {
    read(reader) {
      let value = absent;
      reader.tags((each) => {
        if (each === tag) value = field.read(reader);
        return each === tag;
      });
      return value;
    },
  };
}

/**
 * The first fields of the first structure of an array; null if it is empty. What follows in the answer is not read.
 */
export function first<T>(fields: StructFields<T>): Pick<Field<T | null>, 'read'> {
  return { read: (reader) => (reader.length(i32) > 0 ? readFields(reader, fields) : null) };
}

export interface Encoding {
  readonly version: number;
  readonly isCompact: boolean;
}

/** For what kafkajs writes before the body, with any usual name of the client. */
const HEADROOM_BYTES = 512;
/** Smaller views are copied rather than sent as parts of their own. */
const VIEW_BYTES_MIN = 16 * 1024;

/** The body of a request, and the end of its header, behind room for the rest of it. */
export function encodeRequest<Request>(
  encoding: Encoding,
  fields: StructFields<Request>,
  values: NoInfer<Request>,
): Headroom {
  const writer = new FieldWriter(encoding);
  writer.bytes(HEADROOM_BYTES);
  writer.tags();
  writeFields(writer, fields, values);
  writer.tags();
  const [whole, ...rest] = writer.parts();
  return { whole, at: HEADROOM_BYTES, rest };
}

/** A structure of its own, as the members of a group exchange. */
export function encodeFields<T>(encoding: Encoding, fields: StructFields<T>, values: NoInfer<T>): Buffer {
  const writer = new FieldWriter(encoding);
  writeFields(writer, fields, values);
  return writer.concat();
}

/** Decodes the named fields of an answer; they may be the first ones alone. */
export function decodeAnswer<Answer>(encoding: Encoding, fields: AnswerFields<Answer>, payload: Buffer): Answer {
  const reader = new FieldReader(payload, encoding);
  reader.tags();
  return readFields(reader, fields);
}

/** Decodes fields that no header precedes. */
export function decodeFields<T>(encoding: Encoding, fields: AnswerFields<T>, payload: Buffer): T {
  return readFields(new FieldReader(payload, encoding), fields);
}

function writeFields<T>(writer: FieldWriter, fields: StructFields<T>, values: T): void {
  for (const name in fields) fields[name].write(writer, values[name]);
}

function readFields<T>(reader: FieldReader, fields: AnswerFields<T>): T {
  const values = {} as T;
  for (const name in fields) values[name] = fields[name].read(reader);
  return values;
}

export class FieldWriter {
  readonly version: number;
  readonly #isCompact: boolean;
  readonly #parts: Buffer[] = [];

  constructor({ version, isCompact }: Encoding) {
    this.version = version;
    this.#isCompact = isCompact;
  }

  /** The next bytes, to be filled in. */
  bytes(count: number): Buffer {
    const part = Buffer.alloc(count);
    this.#parts.push(part);
    return part;
  }

  /** Bytes that `take` copies, and `parts` where they are few. */
  view(part: Buffer): void {
    this.#parts.push(part);
  }

  /** @param plain how it is written where the encoding is not compact */
  length(count: number, plain: Field<number>): void {
    if (!this.#isCompact) {
      plain.write(this, count);
      return;
    }
    let rest = count + 1;
    for (; rest > 127; rest >>>= 7) this.bytes(1)[0] = (rest & 127) | 128;
    this.bytes(1)[0] = rest;
  }

  tags(): void {
    if (this.#isCompact) this.bytes(1);
  }

  concat(): Buffer {
    return Buffer.concat(this.#parts);
  }

  /** The same in parts, one at least: views that are large stay what they are. */
  parts(): [Buffer, ...Buffer[]] {
    const parts: Buffer[] = [];
    let small: Buffer[] = [];
    for (const part of this.#parts) {
      if (part.length < VIEW_BYTES_MIN) small.push(part);
      else {
        parts.push(Buffer.concat(small), part);
        small = [];
      }
    }
    const last = Buffer.concat(small);
    return parts.length === 0 ? [last] : [parts[0], ...parts.slice(1), last];
  }
}

export class FieldReader {
  readonly version: number;
  readonly #isCompact: boolean;
  readonly #payload: Buffer;
  #at = 0;

  constructor(payload: Buffer, { version, isCompact }: Encoding) {
    this.#payload = payload;
    this.version = version;
    this.#isCompact = isCompact;
  }

  /** A view. Throws a RangeError beyond the end. */
  bytes(count: number): Buffer {
    const start = this.#at;
    this.#at += count;
    if (this.#at > this.#payload.length) throw new RangeError('The answer of a broker is cut off');
    return this.#payload.subarray(start, this.#at);
  }

  /** @param plain how it is read where the encoding is not compact */
  length(plain: Field<number>): number {
    return this.#isCompact ? this.#uvarint() - 1 : plain.read(this);
  }

  /** @param isRead whether it has read the field with a tag; else the field is skipped */
  tags(isRead: (tag: number) => boolean = () => false): void {
    if (!this.#isCompact) return;
    for (let tags = this.#uvarint(); tags > 0; tags--) {
      const tag = this.#uvarint();
      const size = this.#uvarint();
      if (!isRead(tag)) this.bytes(size);
    }
  }

  #uvarint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const [byte] = this.bytes(1);
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  }
}
