import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import avsc from 'avsc';
import protobuf from 'protobufjs';
import { encodeDeadLetter } from '../../src/codecs/dead-letter-json.ts';
import {
  CLOSE_REASONS,
  EVENT_DEFAULTS,
  EVENT_DIRECTIONS,
  EVENT_KINDS,
  EVENT_TYPES,
} from '../../src/records/anomaly-event.ts';
import { DEAD_LETTER_REASONS } from '../../src/records/dead-letter.ts';
import { INCIDENT_KINDS, INCIDENT_TYPES } from '../../src/records/incident.ts';
import { SCORE_DEFAULTS, SCORE_STATES } from '../../src/records/score-record.ts';
import { incident } from '../fixture/incidents/incident.ts';
import { anomalyEvent } from '../fixture/stream/anomaly-event.ts';
import { deadLetter } from '../fixture/stream/dead-letter.ts';
import { scoreRecord } from '../fixture/stream/score-record.ts';

interface JsonSchema {
  readonly type: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
}

interface AvroRecord {
  readonly type: 'record';
  readonly doc: string;
  readonly fields: readonly {
    readonly name: string;
    readonly type: unknown;
    readonly doc?: string;
    readonly default?: unknown;
  }[];
}

const read = (name: string) => readFileSync(new URL(`../../schemas/${name}`, import.meta.url), 'utf8');
const jsonSchema = (name: string): JsonSchema => JSON.parse(read(`${name}.schema.json`));
const avroSchema = (name: string): AvroRecord => JSON.parse(read(`${name}.avsc`));

function validate(schema: JsonSchema, record: unknown): void {
  const ajv = new Ajv({ strict: true, allowUnionTypes: true });
  const isValid = ajv.compile(schema);
  assert.ok(isValid(JSON.parse(JSON.stringify(record))), ajv.errorsText(isValid.errors));
}

/** Types of Avro by those of JSON Schema, and by the form of an object. */
const AVRO: Readonly<Record<string, string>> = { number: 'double', integer: 'long', object: 'record' };

/** The type of a field in Avro that its JSON Schema has. */
function avroOf({ type, properties }: JsonSchema): unknown {
  if (Array.isArray(type)) return type.map((each) => AVRO[each] ?? each).reverse();
  return type === 'object' && properties === undefined ? 'map' : (AVRO[String(type)] ?? type);
}

interface RecordFields {
  readonly name: string;
  /** Fields that records of earlier versions lack. */
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly example: object;
}

const RECORDS: readonly RecordFields[] = [
  { name: 'anomaly-score', defaults: SCORE_DEFAULTS, example: scoreRecord() },
  { name: 'anomaly-event', defaults: EVENT_DEFAULTS, example: anomalyEvent() },
  { name: 'anomaly-incident', defaults: {}, example: incident() },
];

/** The type of a field without its logical type. */
function bareType(type: unknown): unknown {
  if (Array.isArray(type)) return type.map(bareType);
  return typeof type === 'object' && type !== null && 'type' in type ? type.type : type;
}

test('the fields of a record are the same in the code, in Avro and in JSON Schema', () => {
  for (const { name: record, defaults, example } of RECORDS) {
    const { properties, required } = jsonSchema(record);
    const { fields } = avroSchema(record);
    const names = Object.keys(example);
    assert.deepEqual(Object.keys(properties), names);
    const expected = names.filter((name) => !(name in defaults));
    assert.deepEqual(required, expected);
    const listed = fields.map(({ name }) => name);
    assert.deepEqual(listed, names);
    for (const [index, name] of names.entries()) {
      if (name in defaults) assert.deepEqual(fields[index].default, defaults[name], name);
      assert.deepEqual(bareType(fields[index].type), avroOf(properties[name]), name);
    }
  }
});

test('closed lists are the same in the code and in the schemas', () => {
  assert.deepEqual(jsonSchema('anomaly-score').properties.state.enum, SCORE_STATES);
  assert.deepEqual(jsonSchema('dead-letter').properties.reason.enum, DEAD_LETTER_REASONS);
  const event = jsonSchema('anomaly-event').properties;
  assert.deepEqual(event.type.enum, EVENT_TYPES);
  assert.deepEqual(event.kind.enum, EVENT_KINDS);
  assert.deepEqual(event.direction.enum, EVENT_DIRECTIONS);
  assert.deepEqual(event.closeReason.enum, [...CLOSE_REASONS, null]);
  const { type, kind } = jsonSchema('anomaly-incident').properties;
  assert.deepEqual([type.enum, kind.enum], [INCIDENT_TYPES, INCIDENT_KINDS]);
});

test('every field of every schema has a description', () => {
  const explained = ({ properties }: JsonSchema): void => {
    for (const [name, property] of Object.entries(properties)) {
      assert.ok(property.description, name);
      if (property.properties !== undefined) explained(property);
    }
  };
  for (const name of ['anomaly-score', 'anomaly-event', 'anomaly-incident', 'dead-letter', 'observation'])
    explained(jsonSchema(name));
  for (const name of ['anomaly-score', 'anomaly-event', 'anomaly-incident', 'observation']) {
    for (const field of avroSchema(name).fields) assert.ok(field.doc, field.name);
  }
});

test('records are valid by their schemas, in every state they may have', () => {
  const score = jsonSchema('anomaly-score');
  const type = avsc.Type.forSchema(JSON.parse(read('anomaly-score.avsc')), { wrapUnions: 'never' });
  const eventType = avsc.Type.forSchema(JSON.parse(read('anomaly-event.avsc')), { wrapUnions: 'never' });
  const nothing = { forecast: null, lo: null, hi: null, anomalyScore: null, anomaly: false };
  for (const state of SCORE_STATES) {
    for (const record of [scoreRecord({ state }), scoreRecord({ state, ...nothing, group: 'g' })]) {
      validate(score, record);
      assert.ok(type.isValid(record));
    }
  }
  const none = { severity: null, grade: null, value: null, expected: null, lo: null, hi: null };
  const members = [{ series: 'a', share: 1 }];
  for (const event of [anomalyEvent(), anomalyEvent({ ...none, series: null, group: 'g', members, labels: {} })]) {
    validate(jsonSchema('anomaly-event'), event);
    assert.ok(eventType.isValid(event));
  }
  const incidentType = avsc.Type.forSchema(JSON.parse(read('anomaly-incident.avsc')), { wrapUnions: 'never' });
  const nowhere = { mergedInto: 'b', severity: null, grade: null, events: [], origins: [], openedOrigins: [] };
  for (const each of [incident(), incident({ ...nowhere, type: 'merged', kind: 'pause' })]) {
    validate(jsonSchema('anomaly-incident'), each);
    assert.ok(incidentType.isValid(each));
  }
  for (const letter of [deadLetter(), deadLetter({ key: null, value: null, series: null, detector: 'cpu' })]) {
    validate(jsonSchema('dead-letter'), JSON.parse(encodeDeadLetter(letter).toString()));
  }
});

test('a record with a field too many, too few or of another type is invalid', () => {
  const invalid = (name: string, record: object) =>
    assert.throws(() => validate(jsonSchema(name), record), assert.AssertionError);
  const { value: _, ...short } = scoreRecord();
  invalid('anomaly-score', short);
  invalid('anomaly-score', { ...scoreRecord(), mood: 3 });
  invalid('anomaly-score', { ...scoreRecord(), level: 100 });
  invalid('anomaly-score', { ...scoreRecord(), timestampMs: 1.5 });
  invalid('dead-letter', { ...JSON.parse(encodeDeadLetter(deadLetter()).toString()), reason: 'bad' });
});

test('an observation has the same fields in Avro, JSON Schema and Protobuf', () => {
  const names = ['series', 'timestamp', 'value', 'group', 'start', 'temporality'];
  const { root } = protobuf.parse(read('observation.proto'), new protobuf.Root(), { keepCase: true });
  const actual = root.lookupType('tidewatch.Observation').fieldsArray.map(({ name }) => name);
  assert.deepEqual(actual, names);
  assert.deepEqual(Object.keys(jsonSchema('observation').properties), names);
  const avro = avroSchema('observation').fields.map(({ name }) => name);
  assert.deepEqual(avro, names);
  validate(jsonSchema('observation'), { series: 'a', timestamp: 1_777_636_800_000, value: 0.5 });
  validate(jsonSchema('observation'), { series: 'a', timestamp: 1_777_636_800_000, value: null, group: 'g' });
});

test('a time has one type in every Avro schema', () => {
  const times = (part: unknown): unknown[] => {
    if (typeof part !== 'object' || part === null) return [];
    const { name, type } = part as { name?: unknown; type?: unknown };
    const own = /(Ms|^timestamp)$/.test(String(name)) ? [type].flat().filter((branch) => branch !== 'null') : [];
    return [...own, ...Object.values(part).flatMap(times)];
  };
  for (const name of ['observation', 'anomaly-score', 'anomaly-event', 'anomaly-incident']) {
    const found = times(avroSchema(name));
    assert.ok(found.length > 0, name);
    for (const type of found) assert.deepEqual(type, { type: 'long', logicalType: 'timestamp-millis' }, name);
  }
});
