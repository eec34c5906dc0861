import protobuf from 'protobufjs';
import { decimalNumber } from './avro.ts';

/** Schemas of Confluent's converter import it without a reference. */
const DECIMAL_FILE = 'confluent/type/decimal.proto';
const DECIMAL_TEXT = `syntax = "proto3"; package confluent.type;
message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }`;

/** Adds the types of a file that every registry knows. Others stay unknown: their options are not needed. */
export function addKnown(root: protobuf.Root, file: string): void {
  if (file === DECIMAL_FILE) protobuf.parse(DECIMAL_TEXT, root, { keepCase: true });
  const known = protobuf.common.get(file);
  if (known?.nested !== undefined) root.addJSON(known.nested);
}

type Message = Readonly<Record<string, unknown>>;

const wrapped = ({ value }: Message) => value;

/** The values of messages of these types: as in JSON, with durations in seconds. */
const MEANINGS = new Map<string, (message: Message) => unknown>([
  ...['Double', 'Float', 'Int64', 'UInt64', 'Int32', 'UInt32', 'Bool', 'String', 'Bytes'].map(
    (name) => [`.google.protobuf.${name}Value`, wrapped] as const,
  ),
  ['.google.protobuf.Duration', ({ seconds, nanos }) => Number(seconds) + Number(nanos) / 1e9],
  ['.google.protobuf.Struct', ({ fields }) => fields],
  ['.google.type.Decimal', wrapped],
  ['.confluent.type.Decimal', ({ value, scale }) => decimalNumber(value as Buffer, Number(scale))],
]);

/**
 * Gives messages of well-known types their values, if a mapping reads one: `toPlain()`, of a time
 * `toEpochMs()`. Paths into their fields stay as they are.
 */
export function readWellKnown(type: protobuf.Type): void {
  const add = (methods: object) => Object.assign(type.ctor.prototype as object, methods);
  const meaning = MEANINGS.get(type.fullName);
  if (meaning !== undefined) add({ toPlain: asMethod(meaning) });
  if (type.fullName === '.google.protobuf.Timestamp') add({ toEpochMs: asMethod(epochMs) });
  if (type.fullName !== '.google.protobuf.Value') return;
  // A message has the one field that is set; the first of the type is null.
  const nothing = type.fieldsById[1].name;
  add({
    toPlain: asMethod((message) => {
      const [[name, value] = [nothing, null]] = Object.entries(message);
      return name === nothing ? null : value;
    }),
  });
}

function asMethod(meaning: (message: Message) => unknown) {
  return function (this: Message) {
    return meaning(this);
  };
}

function epochMs({ seconds, nanos }: Message): number {
  return Number(seconds) * 1_000 + Number(nanos) / 1e6;
}
