import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before } from 'node:test';
import { Compatibility, SchemaRegistryClient } from '@confluentinc/schemaregistry/dist/schemaregistry-client.js';
import { AvroSerializer } from '@confluentinc/schemaregistry/dist/serde/avro.js';
import { JsonSerializer } from '@confluentinc/schemaregistry/dist/serde/json.js';
import { SerdeType, TopicNameStrategy } from '@confluentinc/schemaregistry/dist/serde/serde.js';
import { connectRegistry, type SchemaRegistry } from '../../../../src/codecs/formats/registry.ts';
import { createRecordDecoder } from '../../../../src/codecs/observations/record-decoder.ts';
import { createScoreDecoder } from '../../../../src/codecs/score-decoder.ts';
import { createScoreEncoder } from '../../../../src/codecs/score-encoder.ts';
import type { RecordFormat } from '../../../../src/config/config.ts';
import { cacheFolder } from '../../../../src/config/process-environment.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';
import { kafkaTest, whyWithoutKafka } from '../../../fixture/kafka/kafka.ts';
import { type LocalRegistry, startSchemaRegistry } from '../../../fixture/kafka/schema-registry.ts';
import { avroRecord, protobufRecord } from '../../../fixture/schema-registry/wire-record.ts';
import { CLOCK_MS, recordMapping } from '../../../fixture/stream/record-mapping.ts';
import { scoreRecord } from '../../../fixture/stream/score-record.ts';

const schema = (name: string) => readFile(new URL(`../../../../schemas/${name}`, import.meta.url), 'utf8');
const RECORD = { series: 'web-1/cpu', timestamp: CLOCK_MS, value: 0.1, group: null };
const OBSERVATION = { kind: 'observation', series: 'web-1/cpu', group: null, timestampMs: CLOCK_MS, value: 0.1 };

let logDir: string;
let local: LocalRegistry;
let registry: SchemaRegistry;
/** The registry's own client: what other teams write with. */
let client: SchemaRegistryClient;

before(async () => {
  if (whyWithoutKafka !== null) return;
  logDir = freshFolder();
  local = await startSchemaRegistry({ cacheDir: cacheFolder(), logDir });
  registry = await connectRegistry({ url: local.url });
  client = new SchemaRegistryClient({ baseURLs: [local.url] });
});

after(async () => {
  if (whyWithoutKafka !== null) return;
  await client.close();
  await registry.close();
  await local.kill();
});

async function decode(format: RecordFormat, value: Buffer) {
  const decoder = createRecordDecoder(recordMapping({ format }), { schemas: registry });
  const missing = decoder.missingSchema({ value }, CLOCK_MS);
  if (missing !== null) await decoder.loadSchemas([missing], CLOCK_MS);
  return decoder.decode({ value }, CLOCK_MS);
}

kafkaTest("records that the registry's own Avro client writes are read", async () => {
  await registry.register('avro-in-value', { type: 'AVRO', text: await schema('observation.avsc') });
  const serializer = new AvroSerializer(client, SerdeType.VALUE, {
    useLatestVersion: true,
    subjectNameStrategy: TopicNameStrategy,
  });
  assert.deepEqual(await decode('avro', await serializer.serialize('avro-in', RECORD)), OBSERVATION);
});

kafkaTest("records that the registry's own JSON Schema client writes are read", async () => {
  await registry.register('json-in-value', { type: 'JSON', text: await schema('observation.schema.json') });
  const serializer = new JsonSerializer(client, SerdeType.VALUE, {
    useLatestVersion: true,
    validate: true,
    subjectNameStrategy: TopicNameStrategy,
  });
  assert.deepEqual(await decode('json-schema', await serializer.serialize('json-in', RECORD)), OBSERVATION);
});

kafkaTest('records of a registered Protobuf schema are read', async () => {
  const text = await schema('observation.proto');
  const id = await registry.register('proto-in-value', { type: 'PROTOBUF', text });
  const record = protobufRecord(id, text, 'tidewatch.Observation', RECORD);
  assert.deepEqual(await decode('protobuf', record), OBSERVATION);
});

kafkaTest('a schema that refers to another is fetched with it', async () => {
  const host = '{"type":"record","name":"Host","namespace":"shared","fields":[{"name":"id","type":"string"}]}';
  const observation = (type: string) =>
    `{"type":"record","name":"HostObservation","fields":[{"name":"series","type":${type}},
      {"name":"timestamp","type":"long"},{"name":"value","type":"double"}]}`;
  await client.register('shared-host', { schemaType: 'AVRO', schema: host });
  const references = [{ name: 'shared.Host', subject: 'shared-host', version: 1 }];
  const definition = { schemaType: 'AVRO', schema: observation('"shared.Host"'), references };
  const id = await client.register('referring-value', definition);
  const value = avroRecord(id, observation(host), { series: { id: 'web-1' }, timestamp: CLOCK_MS, value: 1 });
  const decoder = createRecordDecoder(recordMapping({ format: 'avro', series: ['series.id'] }), { schemas: registry });
  await decoder.loadSchemas([id], CLOCK_MS);
  assert.equal(decoder.decode({ value }, CLOCK_MS).series, 'web-1');
});

kafkaTest('a record whose schema the registry does not know is a dead letter', async () => {
  const value = avroRecord(987_654, '"long"', 1);
  const decoded = await decode('avro', value);
  assert.equal(decoded.kind === 'dead-letter' && decoded.reason, 'schema-unknown');
});

kafkaTest('a GUID is unknown to a registry without GUIDs; at a wrong URL nothing is known of it', async () => {
  const guid = '5bc5ac2b-8bbd-4e4f-9d34-0f8b2f2f1a11';
  assert.equal(await registry.fetch(guid), null);
  const elsewhere = await connectRegistry({ url: `${local.url}/elsewhere` });
  await assert.rejects(elsewhere.fetch(guid), { code: 'registry-unavailable' });
  await elsewhere.close();
});

kafkaTest("a descriptor in base64, as Python's serializer registers it, is read from the registry", async () => {
  const recorded = JSON.parse(
    await readFile(new URL('../../../fixture/schema-registry/confluent-records.json', import.meta.url), 'utf8'),
  );
  const { value, schema: place } = recorded.records.find(
    ({ name }: { name: string }) => name === 'protobuf-nested-prefix',
  );
  const id = await registry.register('base64-value', { type: 'PROTOBUF', text: recorded.schemas[place].text });
  const bytes = Buffer.from(value, 'base64');
  bytes.writeUInt32BE(id, 1);
  const mapping = recordMapping({ format: 'protobuf', series: ['sensor'], time: 'at', value: 'value' });
  const decoder = createRecordDecoder(mapping, { schemas: registry });
  await decoder.loadSchemas([id], CLOCK_MS);
  const decoded = decoder.decode({ value: bytes }, CLOCK_MS);
  assert.deepEqual(decoded, { ...OBSERVATION, series: 'kiln-1', timestampMs: 1_767_225_600_250, value: 12.5 });
});

kafkaTest('scores make the round trip under the subject of their topic, registered again or not', async () => {
  for (const format of ['avro', 'json-schema'] as const) {
    const options = { topic: `scores-${format}`, registrar: registry };
    const first = (await createScoreEncoder(format, options))(scoreRecord());
    const second = (await createScoreEncoder(format, options))(scoreRecord());
    assert.deepEqual(first, second);
    assert.deepEqual(await createScoreDecoder(format, registry)(first), scoreRecord());
    assert.ok((await client.getAllVersions(`scores-${format}-value`)).length === 1);
  }
});

kafkaTest('a subject that holds an incompatible schema refuses ours', async () => {
  await client.updateConfig('taken-value', { compatibility: Compatibility.BACKWARD });
  const other =
    '{"type":"record","name":"AnomalyScore","namespace":"tidewatch","fields":[{"name":"series","type":"int"}]}';
  await registry.register('taken-value', { type: 'AVRO', text: other });
  const refused = createScoreEncoder('avro', { topic: 'taken', registrar: registry });
  await assert.rejects(refused, { code: 'schema-refused', retryable: false });
});

kafkaTest('an unreachable registry is retryable, and its errors do not contain the password', async () => {
  const away = await connectRegistry({ url: 'http://127.0.0.1:9/', username: 'u', password: 'hunter2' });
  const failures = [away.fetch(1), away.register('a-value', { type: 'AVRO', text: '"long"' })];
  for (const failure of failures) {
    await assert.rejects(failure, (error: Error) => {
      assert.deepEqual({ ...error }, { name: 'ServiceError', code: 'registry-unavailable', retryable: true });
      assert.ok(!`${error.stack} ${error.message}`.includes('hunter2'));
      return true;
    });
  }
  const decoder = createRecordDecoder(recordMapping({ format: 'avro' }), { schemas: away });
  await assert.rejects(decoder.loadSchemas([1], CLOCK_MS), { code: 'registry-unavailable' });
});
