import protobuf from 'protobufjs';
import { decimalNumber } from './avro.ts';

/** The options in it are extended by schemas with options of their own. No record has a message of it. */
const DESCRIPTOR_FILE = 'google/protobuf/descriptor.proto';
const OPTIONS = ['File', 'Message', 'Field', 'Oneof', 'ExtensionRange', 'Enum', 'EnumValue', 'Service', 'Method'];
/** Messages of files that schemas import without a reference, since every registry knows them. */
const KNOWN_MESSAGES: Readonly<Record<string, string>> = {
  [DESCRIPTOR_FILE]: OPTIONS.map((name) => `message ${name}Options { extensions 1000 to max; }`).join(''),
  'confluent/type/decimal.proto': 'message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }',
  'google/type/decimal.proto': 'message Decimal { string value = 1; }',
  'google/type/money.proto': 'message Money { string currency_code = 1; int64 units = 2; int32 nanos = 3; }',
  'google/type/date.proto': 'message Date { int32 year = 1; int32 month = 2; int32 day = 3; }',
  'google/type/datetime.proto': `message TimeZone { string id = 1; }
message DateTime { int32 year = 1; int32 month = 2; int32 day = 3; message Offset { int64 seconds = 1; }
  int32 hours = 4; int32 minutes = 5; int32 seconds = 6; int32 nanos = 7;
  oneof time_offset { Offset utc_offset = 8; TimeZone time_zone = 9; } }`,
};

/**
 * Adds the types of a file that every registry knows, of `descriptor.proto` the options alone. Returns false if types
 * of the file stay unknown.
 */
export function addKnown(root: protobuf.Root, file: string): boolean {
  const messages = KNOWN_MESSAGES[file];
  if (messages !== undefined) {
    const name = file.split('/').slice(0, -1).join('.');
    protobuf.parse(`syntax = "proto3"; package ${name}; ${messages}`, root, { keepCase: true });
  }
  const known = protobuf.common.get(file);
  if (known?.nested !== undefined) root.addJSON(known.nested);
  return file !== DESCRIPTOR_FILE && (messages ?? known ?? null) !== null;
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
  ['.google.type.Money', ({ units, nanos }) => Number(units) + Number(nanos) / 1e9],
  ['.google.type.Date', dateText],
  ['.google.type.DateTime', dateTimeText],
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

const digits = (count: number, value: unknown) => String(value).padStart(count, '0');

/** ISO 8601. A date may leave out its day or its year, which are 0 then: that is no time. */
function dateText({ year, month, day }: Message): string {
  return `${digits(4, year)}-${digits(2, month)}-${digits(2, day)}`;
}

/** ISO 8601, without a zone where it has none. One that it names is appended, so that the time is refused. */
function dateTimeText(message: Message): string {
  const { hours, minutes, seconds, nanos, utc_offset: offset, time_zone: zone } = message;
  const clock = [hours, minutes, seconds].map((part) => digits(2, part)).join(':');
  const local = `${dateText(message)}T${clock}.${digits(9, nanos)}`;
  if ((zone ?? null) !== null) return `${local} ${(zone as Message).id}`;
  if ((offset ?? null) === null) return local;
  const zoneMinutes = Math.round(Number((offset as Message).seconds) / 60);
  const [ahead, rest] = [Math.trunc(Math.abs(zoneMinutes) / 60), Math.abs(zoneMinutes) % 60];
  return `${local}${zoneMinutes < 0 ? '-' : '+'}${digits(2, ahead)}:${digits(2, rest)}`;
}
