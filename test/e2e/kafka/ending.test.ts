import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startWorkerProcess } from '../../fixture/kafka/worker-process.ts';
import { QUICK_DETECTOR } from '../../fixture/stream/scored-stream.ts';
import { until } from '../../fixture/until.ts';

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
