import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { bodyRules } from '../../../../../src/api/wire/body/body-schemas.ts';
import { BodyThread } from '../../../../../src/api/wire/body/body-thread.ts';
import { readWireBody } from '../../../../../src/api/wire/body/wire-body.ts';

const thread = new BodyThread();
after(() => thread.close());

const NAME = 'onlineDetection';
const text = (body: object) => JSON.stringify(body);
const fits = text({
  series: {
    y: [1, null, 3],
    sizes: [3],
    X: [
      [1, 2, 3],
      ['a', 'b', 'a'],
    ],
    categorical_exog: [1],
  },
  freq: 'h',
  h: 2,
  detection_size: 1,
  level: 99.5,
});

test('the parser thread gives the results of the main thread, in order, for valid and invalid bodies', async () => {
  const bodies = [fits, text({ series: { y: ['x'], sizes: [0] } }), '{"series":', fits];
  const read = await Promise.all(bodies.map((body) => thread.read(Buffer.from(body), NAME)));
  const expected = bodies.map((body) => readWireBody(Buffer.from(body), bodyRules(NAME)));
  assert.deepEqual(read, expected);
});

test('a parser thread that exits is noticed and replaced', async () => {
  const workers: Worker[] = [];
  const onWorker = (worker: Worker) => workers.push(worker);
  process.on('worker', onWorker);
  after(() => process.off('worker', onWorker));
  const own = new BodyThread();
  assert.equal((await own.read(Buffer.from(fits), NAME)).kind, 'body');
  // It takes long to read: the thread must end before it has read it, also where this one waits for its turn.
  const reading = own.read(Buffer.from(`[${'[0],'.repeat(5_000_000)}0]`), NAME);
  const ended = assert.rejects(reading, /the thread that reads bodies ended/);
  await workers[0].terminate();
  assert.match(own.trouble ?? '', /the thread that reads bodies ended/);
  await ended;
  while (own.trouble !== null) await wait(2);
  assert.equal(workers.length, 2);
  assert.equal((await own.read(Buffer.from(fits), NAME)).kind, 'body');
  await own.close();
  assert.equal(workers.length, 2);
});
