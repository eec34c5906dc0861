import protobuf from 'protobufjs';
import type { ReadRecord } from './avro.ts';
import type { FetchedSchema } from './schema-source.ts';
import { WIRE_HEADER_BYTES } from './wire-header.ts';

/** Deepest nesting of message types a record may name. */
const MESSAGE_DEPTH_MAX = 32;

/**
 * The record names its message type by the indexes of nested types after the header. Fields keep the names of the schema;
 * 64-bit integers come as objects with `toBigInt()`; what the wire leaves out has its default only where the schema says so.
 * Throws when the schema is none.
 */
export function compileProtobuf(schema: FetchedSchema): ReadRecord {
  const root = new protobuf.Root();
  const parsed = protobuf.parse(schema.text, root, { keepCase: true });
  const scope = parsed.package === undefined ? root : root.lookup(parsed.package);
  // Before the references join: they may share the package, and only the types of this file are counted.
  const messages = messagesOf(scope);
  const imports = [...(parsed.imports ?? []), ...(parsed.weakImports ?? [])];
  for (const reference of schema.references) {
    const { imports: more = [] } = protobuf.parse(reference.text, root, { keepCase: true });
    imports.push(...more);
  }
  for (const name of imports) {
    const wellKnown = protobuf.common.get(name);
    if (wellKnown?.nested !== undefined) root.addJSON(wellKnown.nested);
  }
  root.resolveAll();
  forEachType(root, hideAbsentFields);

  const [first] = messages;
  return (value) => {
    const reader = protobuf.Reader.create(value);
    reader.pos = WIRE_HEADER_BYTES;
    // A lone zero stands for the first message, by far the most common.
    if (value[WIRE_HEADER_BYTES] !== 0) return findMessage(reader, messages).decode(reader);
    reader.pos++;
    return first.decode(reader);
  };
}

function findMessage(reader: protobuf.Reader, messages: readonly protobuf.Type[]): protobuf.Type {
  const depth = reader.sint32();
  if (depth < 1 || depth > MESSAGE_DEPTH_MAX) throw new Error(`${depth} message indexes`);
  let among = messages;
  let message: protobuf.Type | undefined;
  for (let i = 0; i < depth; i++) {
    message = among[reader.sint32()];
    if (message === undefined) throw new Error('the schema has no message at this index');
    among = messagesOf(message);
  }
  return message as protobuf.Type;
}

function messagesOf(scope: protobuf.ReflectionObject | null): protobuf.Type[] {
  if (!(scope instanceof protobuf.Namespace)) return [];
  return scope.nestedArray.filter((nested) => nested instanceof protobuf.Type);
}

function forEachType(scope: protobuf.Namespace, visit: (type: protobuf.Type) => void): void {
  for (const nested of scope.nestedArray) {
    if (nested instanceof protobuf.Type) visit(nested);
    if (nested instanceof protobuf.Namespace) forEachType(nested, visit);
  }
}

/** The library gives every absent field a default; a field that can be told to be absent must read as absent. */
function hideAbsentFields(type: protobuf.Type): void {
  const { prototype } = type.ctor as unknown as { prototype: Record<string, unknown> };
  for (const field of type.fieldsArray) {
    if (field.hasPresence) prototype[field.name] = null;
  }
}
