import avsc from 'avsc';
import { AvroNames, type Parsed, RENAMED, VARIABLE_DECIMAL } from './avro-names.ts';
import type { FetchedSchema } from './schema-source.ts';

/** Parses the bytes of a record behind its schema id, and its message type if a header has it. Throws on others. */
export type ReadRecord = (body: Buffer, messageType?: string) => unknown;

/** The read position in a record's bytes, as the library's types pass it. */
interface Tap {
  readonly buf: Buffer;
  pos: number;
  readLong(): number;
  skipLong(): void;
}

interface Readable {
  _read(tap: Tap): unknown;
}

type AvroSchema = Parameters<typeof avsc.Type.forSchema>[0];
type AvroOptions = NonNullable<Parameters<typeof avsc.Type.forSchema>[1]>;

/**
 * Compiles an Avro schema into a reader. Longs beyond 2^53 are bigints, decimals are numbers, and unions are unwrapped.
 * Other logical types keep their underlying type. Throws when the schema is invalid.
 */
export function compileAvro(schema: FetchedSchema): ReadRecord {
  const options: Partial<AvroOptions> = {
    registry: {},
    omitRecordMethods: true,
    logicalTypes: { decimal: DecimalType, [VARIABLE_DECIMAL]: VariableDecimalType, [RENAMED]: RenamedType },
    assertLogicalTypes: true,
    typeHook: boundedType,
  };
  const names = new AvroNames();
  const compile = (text: string) => avsc.Type.forSchema(names.reduce(parseSchema(text)) as AvroSchema, options);
  for (const reference of schema.references) compile(reference.text);
  const type = compile(schema.text);
  return (body) => type.fromBuffer(body);
}

/**
 * Writes records of one schema, each after `header`. The buffer belongs to the caller. Throws when a record does not
 * match the schema.
 */
export function compileAvroWriter(schemaText: string, header: Buffer): (record: unknown) => Buffer {
  const type = avsc.Type.forSchema(JSON.parse(schemaText), { registry: {}, wrapUnions: 'never' });
  let scratch = Buffer.alloc(1_024);
  return (record) => {
    let end = type.encode(record, scratch, header.length);
    if (end < 0) {
      scratch = Buffer.alloc((scratch.length - end) * 2);
      end = type.encode(record, scratch, header.length);
    }
    header.copy(scratch);
    return Buffer.from(scratch.subarray(0, end));
  };
}

/** A schema is JSON; a primitive or a reference to another schema may be a bare name. */
function parseSchema(text: string): Parsed {
  return /^\s*[[{"]/.test(text) ? JSON.parse(text) : text.trim();
}

function boundedType(schema: AvroSchema, options: AvroOptions): avsc.Type | undefined {
  if (Array.isArray(schema)) return new BareUnionType(schema, options);
  const name = typeof schema === 'object' && 'type' in schema ? schema.type : schema;
  if (name === 'long') return new WideLongType();
  if (name === 'array') return new BoundedArrayType(schema, options);
  if (name === 'map') return new BoundedMapType(schema, options);
  return undefined;
}

/** Below this magnitude the library's arithmetic with doubles is exact. */
const EXACT_LONG_MAX = 2 ** 52;

/** Reads longs that a number cannot represent as bigint. The library's type throws on them. */
class WideLongType extends avsc.types.LongType {
  _read(tap: Tap): number | bigint {
    const start = tap.pos;
    const long = tap.readLong();
    return Math.abs(long) < EXACT_LONG_MAX ? long : readWideLong(tap.buf, start, tap.pos);
  }
}

function readWideLong(bytes: Buffer, start: number, end: number): number | bigint {
  let zigzag = 0n;
  for (let at = Math.min(end, start + 10) - 1; at >= start; at--) zigzag = (zigzag << 7n) | BigInt(bytes[at] & 0x7f);
  const long = BigInt.asIntN(64, (zigzag >> 1n) ^ -(zigzag & 1n));
  return Number.isSafeInteger(Number(long)) ? Number(long) : long;
}

/**
 * Reads the value without the name of its branch, also where the library requires the name: a reader need not
 * distinguish `int` from `double`.
 */
class BareUnionType extends avsc.types.WrappedUnionType {
  _read(tap: Tap): unknown {
    const branch = this.types[tap.readLong()] as unknown as Readable | undefined;
    if (branch === undefined) throw new Error('a union names a branch that it does not have');
    return branch._read(tap);
  }
}

/**
 * Refuses a count that is larger than the number of bytes left. The library's type would allocate that many items and
 * read past the end. Items of zero bytes (nulls, records without fields) are refused: a few bytes could count billions
 * of them.
 */
class BoundedArrayType extends avsc.types.ArrayType {
  _read(tap: Tap): unknown[] {
    const item = this.itemsType as unknown as Readable;
    const items: unknown[] = [];
    for (let count = readBlockCount(tap); count > 0; count = readBlockCount(tap)) {
      for (let i = 0; i < count; i++) {
        const start = tap.pos;
        items.push(item._read(tap));
        if (tap.pos === start) throw new Error('an array of items that take no bytes');
      }
    }
    return items;
  }
}

class BoundedMapType extends avsc.types.MapType {
  _read(tap: Tap & { readString(): string }): Record<string, unknown> {
    const value = this.valuesType as Readable;
    const entries: Record<string, unknown> = Object.create(null);
    for (let count = readBlockCount(tap); count > 0; count = readBlockCount(tap)) {
      for (let i = 0; i < count; i++) entries[tap.readString()] = value._read(tap);
    }
    return entries;
  }
}

function readBlockCount(tap: Tap): number {
  let count = tap.readLong();
  if (count < 0) {
    count = -count;
    tap.skipLong();
  }
  if (count > tap.buf.length - tap.pos) throw new Error('a block counts more items than it has bytes');
  return count;
}

/** The number nearest to a decimal of unscaled two's complement bytes; integers of 64 bits beyond 2^53 are bigints. */
export function decimalNumber(bytes: Buffer, scale: number): number | bigint {
  const unscaled = bytes.length === 0 ? 0n : BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString('hex')}`));
  const nearest = Number(`${unscaled}e${-scale}`);
  return scale !== 0 || Number.isSafeInteger(nearest) || Math.abs(nearest) > 2 ** 64 ? nearest : unscaled;
}

class ReadType extends avsc.types.LogicalType {
  protected override _toValue(): never {
    throw new Error('only read');
  }
}

class DecimalType extends ReadType {
  readonly scale: number;

  constructor(schema: AvroSchema, options?: AvroOptions) {
    super(schema, options);
    this.scale = (schema as unknown as { scale: number }).scale;
  }

  protected override _fromValue(bytes: Buffer): number | bigint {
    return decimalNumber(bytes, this.scale);
  }
}

/** Debezium's decimal of any scale: NUMERIC without a precision. */
class VariableDecimalType extends ReadType {
  protected override _fromValue({ value, scale }: { readonly value: Buffer; readonly scale: number }): number | bigint {
    return decimalNumber(value, scale);
  }
}

/** Gives the fields of a record, or the symbols of an enum, their names of the schema. */
class RenamedType extends ReadType {
  readonly originals: readonly string[];

  constructor(schema: AvroSchema, options?: AvroOptions) {
    super(schema, options);
    this.originals = (schema as unknown as { originals: readonly string[] }).originals;
  }

  protected override _fromValue(read: string | Readonly<Record<string, unknown>>): unknown {
    if (typeof read === 'string') return this.originals[Number(read.slice(1))];
    return Object.fromEntries(this.originals.map((name, i) => [name, read[`n${i}`]]));
  }
}
