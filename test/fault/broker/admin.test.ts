import assert from 'node:assert/strict';
import { asAdmin } from '../../../src/kafka/admin/admin-client.ts';
import { kafkaConnection, kafkaTest } from '../../fixture/kafka/kafka.ts';

/** As kafkajs has it, for a broker that was given up while another one answers. */
function lostConnection(): Error {
  return Object.assign(new Error('Connection error'), { name: 'KafkaJSConnectionError', retriable: true });
}

kafkaTest('administration is repeated while connections to a lost broker are refused', async () => {
  let tries = 0;
  const outcome = await asAdmin(await kafkaConnection(), 'topics were listed', async (admin) => {
    if (++tries < 4) throw lostConnection();
    await admin.listTopics();
    return 'listed';
  });
  assert.equal(outcome, 'listed');
  assert.equal(tries, 4);
});

kafkaTest('administration that fails for another reason is not repeated', async () => {
  let tries = 0;
  await assert.rejects(
    asAdmin(await kafkaConnection(), 'topics were listed', async () => {
      tries++;
      throw new Error('not allowed');
    }),
    /Kafka failed while topics were listed: not allowed/,
  );
  assert.equal(tries, 1);
});
