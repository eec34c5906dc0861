import assert from 'node:assert/strict';
import kafkajs, { type AclEntry, type AclResourceTypes } from 'kafkajs';
import type { RekeyedInput } from '../../../../src/config/rekeyed-input.ts';
import { adminClient } from '../../../../src/kafka/cluster/connection.ts';
import { kafkaConnection, kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { type KafkaStream, kafkaStream, rekeyedInput } from '../../../fixture/kafka/kafka-stream.ts';
import { PASSWORD, securedKafka, USER } from '../../../fixture/kafka/secured-kafka.ts';
import { assertScoredOnce, QUICK_DETECTOR, waves } from '../../../fixture/stream/scored-stream.ts';
import { until } from '../../../fixture/until.ts';

/** Its name where nothing else is configured. */
const DETECTORS_TOPIC = 'tidewatch-detectors';
const { AclOperationTypes, AclPermissionTypes, AclResourceTypes: Resource, ResourcePatternTypes } = kafkajs;
const { READ, WRITE, DELETE, DESCRIBE, DESCRIBE_CONFIGS } = AclOperationTypes;

function allow(resourceType: AclResourceTypes, resourceName: string, ...operations: number[]): AclEntry[] {
  return operations.map((operation) => ({
    resourceType,
    resourceName,
    resourcePatternType:
      resourceType === Resource.TRANSACTIONAL_ID ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL,
    principal: `User:${USER}`,
    host: '*',
    operation,
    permissionType: AclPermissionTypes.ALLOW,
  }));
}

/** The list of deploy/book/security.md: reading and writing imply describing. */
function workerAcls({ topics }: KafkaStream): AclEntry[] {
  const group = `group-${topics.observations}`;
  return [
    ...[topics.observations, DETECTORS_TOPIC].flatMap((topic) => allow(Resource.TOPIC, topic, READ)),
    ...[topics.scores, topics.events, topics.deadLetters].flatMap((topic) => allow(Resource.TOPIC, topic, WRITE)),
    ...allow(Resource.TOPIC, topics.changelog, READ, WRITE, DESCRIBE_CONFIGS),
    ...allow(Resource.GROUP, group, READ),
    ...allow(Resource.TRANSACTIONAL_ID, `${group}-`, WRITE),
  ];
}

/** With `repartition: true`, these as well. */
function repartitionAcls({ topic, topics, groupId }: RekeyedInput): AclEntry[] {
  return [
    ...allow(Resource.TOPIC, topic, READ, WRITE, DELETE),
    ...allow(Resource.TOPIC, topics.changelog, READ, WRITE, DESCRIBE_CONFIGS),
    ...allow(Resource.GROUP, groupId, READ),
  ];
}

kafkaTest('the permissions of deploy/book/security.md are enough for a worker; without them it ends', async (t) => {
  const login = { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: USER, KAFKA_SASL_PASSWORD: PASSWORD };
  const env = { ...(await securedKafka({ authorized: true })), ...login };
  const stream = await kafkaStream(2, [QUICK_DETECTOR]);
  const refused = await stream.startWorker(env);
  assert.equal((await refused.ended).code, 2);
  assert.match(refused.said(), /The user needs Describe on topic tidewatch-detectors: kafka-acls\.sh --add/);
  const { admin, destroy } = adminClient(await kafkaConnection());
  t.after(destroy);
  await admin.connect();
  const isOfLetters = ({ resourceName }: AclEntry) => resourceName === stream.topics.deadLetters;
  await admin.createAcls({ acl: workerAcls(stream).filter((each) => !isOfLetters(each)) });
  await admin.createAcls({ acl: allow(Resource.TOPIC, stream.topics.deadLetters, DESCRIBE) });
  const unable = await stream.startWorker(env);
  assert.equal((await unable.ended).code, 2);
  const needed = `The user needs Write on topic ${stream.topics.deadLetters}: kafka-acls.sh --add`;
  assert.ok(unable.said().includes(needed), unable.said());
  await admin.createAcls({ acl: workerAcls(stream) });
  const records = waves(4, 30, 2);
  await stream.feed(records);
  const worker = await stream.startWorker(env);
  await stream.settled();
  assert.deepEqual(await worker.stop(), { code: 0, signal: null });
  assertScoredOnce(await stream.scores(), records);
  assert.doesNotMatch(worker.said(), /AUTHORIZATION_FAILED/);

  const other = await kafkaStream(2, [QUICK_DETECTOR], '{ repartition: true }');
  await admin.createAcls({ acl: [...workerAcls(other), ...repartitionAcls(await rekeyedInput(other))] });
  await other.feed(records);
  const carrier = await other.startWorker(env);
  await until('all are scored', async () => (await other.scores()).length >= records.length);
  assert.deepEqual(await carrier.stop(), { code: 0, signal: null });
  assert.doesNotMatch(carrier.said(), /AUTHORIZATION_FAILED|could not be deleted/);
});
