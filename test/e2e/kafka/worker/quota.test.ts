import assert from 'node:assert/strict';
import { linkCluster } from '../../../../src/kafka/cluster/connection.ts';
import { array, type Field, i8, i16, i32, string, struct } from '../../../../src/kafka/protocol/protocol-fields.ts';
import { sendRequest } from '../../../../src/kafka/protocol/protocol-request.ts';
import { kafkaConnection, kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { kafkaStream } from '../../../fixture/kafka/kafka-stream.ts';
import { assertScoredOnce, QUICK_DETECTOR, waves } from '../../../fixture/stream/scored-stream.ts';
import { until } from '../../../fixture/until.ts';

const f64: Field<number> = {
  write: (writer, value) => writer.bytes(8).writeDoubleBE(value),
  read: (reader) => reader.bytes(8).readDoubleBE(),
};

const ALTER_CLIENT_QUOTAS = {
  name: 'AlterClientQuotas',
  key: 49,
  versions: [0],
  compactSince: 99,
  request: {
    entries: array(
      struct({
        entity: array(struct({ type: string, name: string })),
        changes: array(struct({ key: string, value: f64, removes: i8 })),
      }),
    ),
    validatesOnly: i8,
  },
  answer: { clientSideThrottleTime: i32, entries: array(struct({ errorCode: i16, errorMessage: string })) },
};

/** Bytes a second that a client may write; null: as many as it likes. */
async function limitWrites(clientId: string, bytes: number | null): Promise<void> {
  const { cluster, destroy } = await linkCluster(await kafkaConnection(), []);
  try {
    const [broker] = Object.values(cluster.brokerPool.brokers);
    await broker.connect();
    const entity = [{ type: 'client-id', name: clientId }];
    const changes = [{ key: 'producer_byte_rate', value: bytes ?? 0, removes: Number(bytes === null) }];
    const answer = await sendRequest(broker, ALTER_CLIENT_QUOTAS, { entries: [{ entity, changes }], validatesOnly: 0 });
    assert.deepEqual(answer.entries[0], { errorCode: 0, errorMessage: null });
  } finally {
    destroy();
  }
}

kafkaTest('a worker that a quota delays is not ready, names the quota, and scores each record once', async () => {
  const stream = await kafkaStream(2, [QUICK_DETECTOR]);
  const records = waves(8, 100, 2);
  const clientId = `limited-${stream.groupId}`;
  const worker = await stream.startWorker({ KAFKA_CLIENT_ID: clientId });
  await until('it is ready', async () => (await worker.readiness())?.status === 200);
  await limitWrites(clientId, 20_000);
  await stream.feedSlowly(records, { batch: 40, everyMs: 50 });
  const reasons = async () => String((await worker.readiness())?.reasons);
  await until('the quota is named', async () => (await reasons()).includes(`a quota delays client ${clientId}`));
  await until('it is logged', () => worker.said().includes('a quota delays client'));
  assert.equal(worker.said().split('a quota delays client').length - 1, 1, 'it is logged once');
  await limitWrites(clientId, null);
  await stream.settled();
  await until('it is ready again', async () => (await worker.readiness())?.status === 200);
  assertScoredOnce(await stream.scores(), records);
  assert.deepEqual(await worker.stop(), { code: 0, signal: null });
});
