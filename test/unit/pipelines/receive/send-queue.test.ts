import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SendQueue } from '../../../../src/pipelines/receive/send-queue.ts';

const recordsOf = (...keys: string[]) => keys.map((key) => ({ key: Buffer.from(key), value: Buffer.alloc(9) }));

test('bodies that arrive during a send go together in the next one, in their order', async () => {
  const sent: string[] = [];
  let release = () => {};
  const queue = new SendQueue({
    bytesMax: 1_000,
    send: async (records) => {
      sent.push(records.map(({ key }) => key.toString()).join(''));
      if (sent.length === 1) await new Promise<void>((resolve) => (release = resolve));
    },
  });
  const all = [queue.add(recordsOf('a')), queue.add(recordsOf('b', 'c')), queue.add(recordsOf('d'))];
  release();
  await Promise.all(all);
  assert.deepEqual(sent, ['a', 'bcd']);
});

test('a failed send fails its bodies alone', async () => {
  let sends = 0;
  const queue = new SendQueue({
    bytesMax: 1_000,
    send: async () => {
      if (++sends === 1) throw new Error('away');
    },
  });
  const first = queue.add(recordsOf('a'));
  const second = queue.add(recordsOf('b'));
  await assert.rejects(first, /away/);
  await second;
  await queue.settled();
});

test('a body beyond the limit is refused as overloaded, and accepted once there is room', async () => {
  let release = () => {};
  const queue = new SendQueue({
    bytesMax: 25,
    send: () => new Promise<void>((resolve) => (release = resolve)),
  });
  const first = queue.add(recordsOf('a', 'b'));
  await assert.rejects(queue.add(recordsOf('c')), { code: 'overloaded', retryable: true });
  release();
  await first;
  const third = queue.add(recordsOf('c'));
  release();
  await third;
});
