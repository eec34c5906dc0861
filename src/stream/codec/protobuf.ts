import protobuf from 'protobufjs';
import type { ReadRecord } from './avro.ts';
import type { FetchedSchema } from './schema-source.ts';
import { WIRE_HEADER_BYTES } from './wire-header.ts';

/** Deepest nesting of message types a record may name. */
const MESSAGE_DEPTH_MAX = 32;

/**
 * Compiles a Protobuf schema into a reader. The header of a record is followed by the indexes of its message type.
 * Fields keep their names in the schema. 64-bit integers are objects with `toBigInt()`. An absent field has its default
 * only where the schema declares no presence. Throws when the schema is invalid.
 */
export function compileProtobuf(schema: FetchedSchema): ReadRecord {
  const root = new protobuf.Root();
  const parsed = protobuf.parse(schema.text, root, { keepCase: true });
  const scope = parsed.package === undefined ? root : root.lookup(parsed.package);
  // Before the references are added: they may share the package, and the indexes count only the types of this file.
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
    // A single zero stands for the first message, which is by far the most common.
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

/** The library gives every absent field a default. A field with presence must be null when it is absent. */
function hideAbsentFields(type: protobuf.Type): void {
  const { prototype } = type.ctor as unknown as { prototype: Record<string, unknown> };
  for (const field of type.fieldsArray) {
    if (field.hasPresence) prototype[field.name] = null;
  }
}
