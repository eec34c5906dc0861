import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import type { ISocketFactory } from 'kafkajs';
import { type ClusterLink, linkCluster } from '../../../src/kafka/cluster/connection.ts';
import { freshTopics, kafkaConnection, kafkaTest } from '../../fixture/kafka/kafka.ts';
import { until } from '../../fixture/until.ts';

const REQUESTS = 8;

async function linked(t: TestContext, socketFactory: ISocketFactory) {
  const { observations: topic } = await freshTopics(1);
  const link: ClusterLink = await linkCluster({ ...(await kafkaConnection()), socketFactory }, [topic]);
  t.after(() => link.destroy());
  return { link, topic, broker: await link.cluster.findBroker({ nodeId: 1 }) };
}

kafkaTest('requests that come together after a lost connection share a new one', async (t) => {
  const sockets = new Set<Socket>();
  const { link, topic, broker } = await linked(t, ({ host, port, onConnect }) => {
    const socket = connect({ host, port }, onConnect);
    sockets.add(socket);
    return socket.once('close', () => sockets.delete(socket));
  });
  link.dropBroker(broker);
  await until('the loss is noticed', () => sockets.size === 0);
  await Promise.all(Array.from({ length: REQUESTS }, () => broker.metadata([topic])));
  assert.equal(sockets.size, 1);
});

kafkaTest('a connection that was lost in the middle of a response reads the next one from its beginning', async (t) => {
  let cuts = false;
  const { broker, topic } = await linked(t, ({ host, port, onConnect }) => {
    const socket = connect({ host, port }, onConnect);
    const emit = socket.emit.bind(socket);
    socket.emit = (event: string | symbol, ...values: unknown[]) => {
      if (event !== 'data' || !cuts) return emit(event, ...values);
      cuts = false;
      emit('data', (values[0] as Buffer).subarray(0, 7));
      socket.destroy(new Error('The connection was lost'));
      return true;
    };
    return socket;
  });
  const metadata = await broker.metadata([topic]);
  cuts = true;
  await assert.rejects(broker.metadata([topic]));
  assert.deepEqual(await broker.metadata([topic]), metadata);
});
