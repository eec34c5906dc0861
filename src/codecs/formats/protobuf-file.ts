import protobuf from 'protobufjs';
import descriptors from 'protobufjs/ext/descriptor/index.js';

interface AddedFile {
  /** The message types of this file alone, in its order. */
  readonly messages: readonly protobuf.Type[];
  readonly imports: readonly string[];
}

/** Messages of the library's `descriptor.proto`, as far as they are read. */
interface FileDescriptor {
  readonly package: string;
  readonly syntax: string;
  readonly edition: number;
  readonly dependency: readonly string[];
  readonly messageType: readonly MessageDescriptor[];
  readonly enumType: readonly FeaturedDescriptor[];
  readonly options?: FeaturedDescriptor['options'];
}

interface FeaturedDescriptor {
  readonly options?: { readonly features?: object | null; readonly mapEntry?: boolean } | null;
}

interface MessageDescriptor extends FeaturedDescriptor {
  readonly name: string;
  readonly field: readonly { readonly type: number; readonly typeName: string }[];
  readonly nestedType: readonly MessageDescriptor[];
}

interface FromDescriptor<T> {
  fromDescriptor(descriptor: object, edition: string): T;
}

const EDITION_2023 = 1000;
const GROUP = 10;

/**
 * Adds the types of a schema to `root`: of its text, or of a serialized descriptor in base64, which some clients
 * register instead. Throws when it is invalid.
 */
export function addProtobufFile(root: protobuf.Root, text: string): AddedFile {
  if (/^[A-Za-z0-9+/\s]+=*\s*$/.test(text)) return addDescriptor(root, Buffer.from(text, 'base64'));
  const parsed = protobuf.parse(withoutAggregates(text), root, { keepCase: true });
  const { package: name, imports = [], weakImports = [] } = parsed;
  return {
    messages: messageTypes(name === undefined ? root : root.lookup(name)),
    imports: [...imports, ...weakImports],
  };
}

/** Comments, texts, the start of a value of several fields of an option other than `features`, and braces. */
const PARTS = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|(["'])(?:(?!\1)[^\\\n]|\\.)*\1|(?<!\bfeatures\s*)=\s*\{|[{}]/g;

/** Empties values of several fields of options, such as those of Kafka Connect: the library cannot read all of them. */
function withoutAggregates(text: string): string {
  let [kept, from, depth] = ['', 0, 0];
  for (const { 0: part, index } of text.matchAll(PARTS)) {
    if (depth === 0 && part.startsWith('=')) kept += `${text.slice(from, index)}= ""`;
    if (part.endsWith('{') && (depth > 0 || part.startsWith('='))) depth++;
    else if (part === '}' && depth > 0 && --depth === 0) from = index + 1;
  }
  return kept + text.slice(from);
}

export function messageTypes(scope: protobuf.ReflectionObject | null): protobuf.Type[] {
  if (!(scope instanceof protobuf.Namespace)) return [];
  return scope.nestedArray.filter((nested) => nested instanceof protobuf.Type);
}

function addDescriptor(root: protobuf.Root, bytes: Buffer): AddedFile {
  const file = descriptors.FileDescriptorProto.decode(bytes) as unknown as FileDescriptor;
  const scope = file.package === '' ? root : root.define(file.package);
  const edition = editionOf(file);
  const [types, enums] = [protobuf.Type, protobuf.Enum] as unknown as [
    FromDescriptor<protobuf.Type>,
    FromDescriptor<protobuf.Enum>,
  ];
  // Another file of the package may have other features.
  const inFile = <D extends FeaturedDescriptor>({ options, ...each }: D) => {
    return { ...each, options: { ...options, features: { ...file.options?.features, ...options?.features } } };
  };
  for (const each of file.enumType) scope.add(enums.fromDescriptor(inFile(each), edition));
  const messages = file.messageType.map((each) => types.fromDescriptor(inFile(each), edition));
  for (const [i, message] of messages.entries()) {
    scope.add(message);
    restoreNested(message, file.messageType[i]);
  }
  return { messages, imports: file.dependency };
}

function editionOf({ syntax, edition }: FileDescriptor): string {
  if (syntax !== 'editions') return syntax === 'proto3' ? syntax : 'proto2';
  if (edition === EDITION_2023) return '2023';
  throw new Error(`edition ${edition} of Protobuf is not supported`);
}

/** A descriptor has a map as a list of entries, whose type counts among the message indexes, and groups as fields. */
function restoreNested(type: protobuf.Type, { field: fields, nestedType }: MessageDescriptor): void {
  const groups = new Set(fields.flatMap((each) => (each.type === GROUP ? [each.typeName.split('.').at(-1)] : [])));
  for (const { name, ...descriptor } of nestedType) {
    const nested = type.nested?.[name] as protobuf.Type;
    const field = type.fieldsArray.find((each) => each.type === nested.fullName);
    Object.assign(nested, { group: groups.has(name) });
    if (!descriptor.options?.mapEntry || field === undefined) restoreNested(nested, { name, ...descriptor });
    else {
      const { key, value } = nested.fields;
      type.remove(field);
      type.add(new protobuf.MapField(field.name, field.id, key.type, value.type));
    }
  }
}
