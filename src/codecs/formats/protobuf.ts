import protobuf from 'protobufjs';
import type { ReadRecord } from './avro.ts';
import { dropUnknownFields, readNames } from './protobuf-fields.ts';
import { addProtobufFile, messageTypes } from './protobuf-file.ts';
import type { FetchedSchema } from './schema-source.ts';
import { addKnown, readWellKnown } from './well-known-types.ts';

/** Deepest nesting of message types a record may name. */
const MESSAGE_DEPTH_MAX = 32;

/**
 * Compiles a Protobuf schema into a reader: its text, or a descriptor in base64. The body of a record begins with the
 * indexes or the name of its message type. Fields keep their names in the schema. 64-bit integers are objects with
 * `toBigInt()`. Well-known types have `toPlain()` or `toEpochMs()`, enums `toPlain()` and `toName()`. An absent field
 * has its default only if the schema declares no presence. Throws when the schema is invalid.
 */
export function compileProtobuf(schema: FetchedSchema): ReadRecord {
  const root = new protobuf.Root();
  const { messages, imports } = addProtobufFile(root, schema.text);
  const imported = new Set(imports);
  for (const { text } of schema.references) {
    for (const name of addProtobufFile(root, text).imports) imported.add(name);
  }
  const given = new Set(schema.references.map(({ name }) => name));
  const unknown = [...imported].filter((name) => !given.has(name) && !addKnown(root, name));
  if (unknown.length > 0) forEachType(root, dropUnknownFields);
  root.resolveAll();
  forEachType(root, (type) => {
    hideAbsentFields(type);
    readWellKnown(type);
    readNames(type);
  });

  const [first] = messages;
  const named = messages.map((type) => [delimitedName(type), type] as const);
  return (body, messageType) => {
    const reader = protobuf.Reader.create(body);
    if (messageType !== undefined) return messageOf(messages, messageType).decode(reader);
    // A single zero is the first message, which is by far the most common.
    if (body[0] !== 0) {
      const found = body[1] === NAME_TAG && named.find(([name]) => body.subarray(0, name.length).equals(name));
      if (!found) return findMessage(reader, messages).decode(reader);
      reader.pos += found[0].length;
      return found[1].decode(reader);
    }
    reader.pos++;
    return first.decode(reader);
  };
}

const NAME_TAG = 10;

/** The message type before a record of Apicurio's clients, instead of indexes: a message with its name. */
function delimitedName({ name }: protobuf.Type): Uint8Array {
  return protobuf.Writer.create().fork().uint32(NAME_TAG).string(name).ldelim().finish();
}

function messageOf(messages: readonly protobuf.Type[], name: string): protobuf.Type {
  const found = messages.find((type) => type.name === name);
  if (found === undefined) throw new Error(`the schema has no message ${name}`);
  return found;
}

function findMessage(reader: protobuf.Reader, messages: readonly protobuf.Type[]): protobuf.Type {
  const depth = reader.sint32();
  if (depth < 1 || depth > MESSAGE_DEPTH_MAX) throw new Error(`${depth} message indexes`);
  let among = messages;
  let message: protobuf.Type | undefined;
  for (let i = 0; i < depth; i++) {
    message = among[reader.sint32()];
    if (message === undefined) throw new Error('the schema has no message at this index');
    among = messageTypes(message);
  }
  return message as protobuf.Type;
}

function forEachType(scope: protobuf.Namespace, visit: (type: protobuf.Type) => void): void {
  for (const nested of scope.nestedArray) {
    if (nested instanceof protobuf.Type) visit(nested);
    if (nested instanceof protobuf.Namespace) forEachType(nested, visit);
  }
}

/** The library gives every absent field a default. A field with presence must be null when it is absent. */
function hideAbsentFields(type: protobuf.Type): void {
  const { prototype } = type.ctor as unknown as { prototype: Record<string, unknown> };
  for (const field of type.fieldsArray) {
    if (field.hasPresence) prototype[field.name] = null;
  }
}
