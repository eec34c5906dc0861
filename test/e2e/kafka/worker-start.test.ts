import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { kafkaTest } from '../../fixture/kafka/kafka.ts';
import { kafkaStream } from '../../fixture/kafka/kafka-stream.ts';
import { QUICK_DETECTOR } from '../../fixture/stream/scored-stream.ts';

kafkaTest('a worker that finds no broker when it starts says where it looked, and ends with 1', async () => {
  const stream = await kafkaStream(1, [QUICK_DETECTOR]);
  const worker = await stream.startWorker({ KAFKA_BROKERS: '127.0.0.1:1' });
  assert.deepEqual(await worker.ended, { code: 1, signal: null });
  assert.match(worker.said(), /^No Kafka could be reached at 127\.0\.0\.1:1\. .*ECONNREFUSED/m);
});

kafkaTest(
  "a worker whose operators' port is taken ends with a reason, as its probes would reach another process",
  async (t) => {
    const stream = await kafkaStream(1, [QUICK_DETECTOR]);
    const taken = createServer().listen(0, '127.0.0.1');
    t.after(() => taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const worker = await stream.startWorker({ OPS_PORT: String(port) });
    assert.deepEqual(await worker.ended, { code: 2, signal: null });
    assert.match(worker.said(), new RegExp(`127.0.0.1:${port} is taken by another program; set OPS_HOST and OPS_PORT`));
  },
);

kafkaTest('a worker whose topics are missing names them, and ends with 1', async () => {
  const stream = await kafkaStream(1, [QUICK_DETECTOR]);
  const file = `topics: { scores: nobody-made-this }\ndetectors: [${QUICK_DETECTOR}]`;
  const worker = await stream.startWorker({}, file);
  assert.deepEqual(await worker.ended, { code: 1, signal: null });
  assert.match(worker.said(), /Topics are missing: .*nobody-made-this.* Make them with the command "topics"/);
});
