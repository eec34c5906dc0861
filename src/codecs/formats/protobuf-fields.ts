import protobuf from 'protobufjs';

/**
 * Removes fields whose type is in an unregistered file: readers ignore unknown fields, and a record may be usable
 * without them.
 */
export function dropUnknownFields(type: protobuf.Type): void {
  const isKnown = ({ type: name }: protobuf.Field) =>
    Object.hasOwn(protobuf.types.basic, name) || type.lookup(name, [protobuf.Type, protobuf.Enum]) !== null;
  for (const field of [...type.fieldsArray]) if (!isKnown(field)) type.remove(field);
}

/** A value of an enum, as JSON has it: its name in an id or a label, its number as a value. */
class EnumValue {
  readonly name: string;
  readonly number: number;

  constructor(name: string, number: number) {
    this.name = name;
    this.number = number;
  }

  toName(): string {
    return this.name;
  }

  toPlain(): number {
    return this.number;
  }
}

/** Gives enums their names, and 64-bit keys of maps their digits: the library leaves these as eight characters. */
export function readNames(type: protobuf.Type): void {
  const readings = type.fieldsArray.map((field) => [field, readingOf(field)] as const);
  const fields = readings.flatMap(([{ name }, read]) => (read === null ? [] : [[name, read] as const]));
  if (fields.length === 0) return;
  const { prototype } = type.ctor as unknown as { prototype: Record<string, unknown> };
  for (const [{ name, map, repeated }, read] of readings) {
    if (read !== null && !map && !repeated && prototype[name] !== null) prototype[name] = read(prototype[name]);
  }
  type.setup();
  const { decode } = type;
  type.decode = (...given: Parameters<typeof decode>) => {
    const message = decode.apply(type, given) as protobuf.Message & Record<string, unknown>;
    for (const [name, read] of fields) {
      if (Object.hasOwn(message, name)) Object.assign(message, { [name]: read(message[name]) });
    }
    return message;
  };
}

/** null if the library's value is right. */
function readingOf(field: protobuf.Field): ((read: unknown) => unknown) | null {
  const { resolvedType } = field.resolve();
  const named = resolvedType instanceof protobuf.Enum ? enumNames(resolvedType) : null;
  const key = field instanceof protobuf.MapField ? keyReader(field.keyType) : null;
  if (named === null && key === null) return null;
  const value = named ?? ((read: unknown) => read);
  if (field.map) {
    const keyOf = key ?? ((read: string) => read);
    return (read) => Object.fromEntries(Object.entries(read as object).map(([k, v]) => [keyOf(k), value(v)]));
  }
  return field.repeated ? (read) => (read as unknown[]).map(value) : value;
}

/** The first name of each number. A number that the schema does not name stays a number. */
function enumNames({ values: numbers }: protobuf.Enum): (read: unknown) => unknown {
  const named = Object.entries(numbers).map(([name, number]) => [number, new EnumValue(name, number)] as const);
  const values = new Map<unknown, EnumValue>(named.reverse());
  return (read) => values.get(read) ?? read;
}

function keyReader(keyType: string): ((key: string) => string) | null {
  if (!Object.hasOwn(protobuf.types.long, keyType)) return null;
  const isUnsigned = /^u|^fixed/.test(keyType);
  // An absent key is 0, and no hash.
  return (key) => (key.length === 8 ? String(protobuf.util.longFromHash(key, isUnsigned)) : key);
}
