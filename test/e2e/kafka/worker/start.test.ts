import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCommand } from '../../../fixture/command.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';
import { kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { kafkaStream } from '../../../fixture/kafka/kafka-stream.ts';
import { startWorkerProcess } from '../../../fixture/kafka/worker-process.ts';
import { QUICK_DETECTOR } from '../../../fixture/stream/scored-stream.ts';
import { observationRecord } from '../../../fixture/stream/stream-run.ts';
import { until } from '../../../fixture/until.ts';

for (const [waits, wait] of [
  ['at once where it is not to wait', '0'],
  ['after its wait', '1500'],
]) {
  kafkaTest(
    `a worker that finds no broker when it starts names where it looked, and ends with 1 ${waits}`,
    async () => {
      const stream = await kafkaStream(1, [QUICK_DETECTOR]);
      const worker = await stream.startWorker({ KAFKA_BROKERS: '127.0.0.1:1', START_WAIT_MS: wait });
      assert.deepEqual(await worker.ended, { code: 1, signal: null });
      assert.match(worker.said(), /^No Kafka could be reached at 127\.0\.0\.1:1\. .*ECONNREFUSED/m);
      assert.equal(worker.logged('no broker reachable, waiting').length, wait === '0' ? 0 : 1);
    },
  );
}

kafkaTest('a worker that is stopped while it waits for its brokers ends with 0', async () => {
  const stream = await kafkaStream(1, [QUICK_DETECTOR]);
  const worker = await stream.startWorker({ KAFKA_BROKERS: '127.0.0.1:1' });
  await until('it is not ready', async () => (await worker.readiness())?.status === 503);
  assert.deepEqual(await worker.stop(), { code: 0, signal: null });
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
  assert.match(
    worker.said(),
    /Topics are missing: .*nobody-made-this.* Make them with the command "topics".* hides topics/,
  );
});

kafkaTest('a worker that reads another topic than its group ends with 2, and takes no partition from it', async () => {
  const [stream, other] = [await kafkaStream(2, [QUICK_DETECTOR]), await kafkaStream(2, [QUICK_DETECTOR])];
  const worker = await stream.startWorker();
  await until('it is ready', async () => (await worker.readiness())?.status === 200);
  const stranger = await other.startWorker({ KAFKA_GROUP_ID: stream.groupId });
  assert.deepEqual(await stranger.ended, { code: 2, signal: null });
  const { observations: topic } = stream.topics;
  const reason = `Group ${stream.groupId} reads topic ${topic}, and this worker topic ${other.topics.observations}`;
  assert.ok(stranger.said().includes(`${reason}: give it a KAFKA_GROUP_ID of its own`), stranger.said());
  await stream.feed([0, 1].map((partition) => ({ partition, ...observationRecord(`series-${partition}`, 0, 1) })));
  await stream.settled();
  assert.equal((await stream.scores()).length, 2);
  await worker.stop();
});

const DETECTORS = `source: { prometheus: "http://127.0.0.1:1", query: up, step: 1min }
detectors: [{ name: all, series: "*", freq: min, h: 4, detection_size: 4 }]
`;
const ROUTES = `receivers: [{ name: mine, webhook: { url: "https://example.com" } }]
routes: [{ name: all, receivers: mine }]
`;

for (const name of ['receive', 'poll', 'remote-write', 'alerts', 'incidents']) {
  kafkaTest(
    `${name} that starts before its brokers waits for them, not ready, instead of ending at once`,
    async (t) => {
      const folder = freshFolder();
      await writeFile(join(folder, 'detectors.yaml'), DETECTORS);
      await writeFile(join(folder, 'routes.yaml'), ROUTES);
      const command = startCommand([name], {
        KAFKA_BROKERS: '127.0.0.1:1',
        OPS_PORT: '0',
        HTTP_PORT: '0',
        GRPC_PORT: '0',
        DATA_DIR: folder,
        DETECTORS: join(folder, 'detectors.yaml'),
        REMOTE_WRITE_URL: 'http://127.0.0.1:1',
        ...(name === 'alerts' && { ROUTES: join(folder, 'routes.yaml') }),
      });
      t.after(() => command.kill());
      const opened = () => command.out.find((line) => line.includes('"the operators port is open"'));
      await command.until(() => opened() !== undefined);
      const { url } = JSON.parse(opened()!) as { url: string };
      await until('it says why it is not ready', async () => {
        const answer = await fetch(`${url}/readyz`);
        return answer.status === 503 && (await answer.text()).includes('No Kafka could be reached at 127.0.0.1:1');
      });
      assert.match(await (await fetch(`${url}/metrics`)).text(), /^tidewatch_broker_connected 0$/m);
      command.interrupt();
      assert.equal(await command.exitCode, 0);
    },
  );
}

test('a worker that is stopped while it waits for a broker that does not answer ends in time', async (t) => {
  let asked = false;
  const unresponsive = createServer(() => {
    asked = true;
  });
  await new Promise<void>((resolve) => unresponsive.listen(0, '127.0.0.1', resolve));
  t.after(() => unresponsive.close());
  const { port } = unresponsive.address() as { port: number };
  const worker = await startWorkerProcess({
    detectors: `detectors: [${QUICK_DETECTOR}]\n`,
    env: { KAFKA_BROKERS: `127.0.0.1:${port}`, SHUTDOWN_MS_MAX: '1000' },
  });
  await until('the broker was asked', async () => asked);
  const ended = worker.stop();
  // Well before the time-out of the request, 20 s, which the process must not wait for.
  const end = await Promise.race([ended, sleep(15_000, 'still there', { ref: false })]);
  await worker.kill();
  assert.deepEqual(end, { code: 0, signal: null });
});
