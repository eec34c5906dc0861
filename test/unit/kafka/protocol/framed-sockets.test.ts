import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { giveBackBatch } from '../../../../src/kafka/batch/reused-bytes.ts';
import { framedSockets, ResponseReader } from '../../../../src/kafka/protocol/framed-sockets.ts';
import { fc } from '../../../fixture/fast-check.ts';

function response(bytes: number, fill: number): Buffer {
  const framed = Buffer.alloc(4 + bytes, fill);
  framed.writeInt32BE(bytes);
  return framed;
}

const sizes = fc.oneof(fc.nat(30), fc.nat(70_000), fc.constantFrom(16_379, 16_380, 16_381));

test('responses are whole, however the network divides them, and stay so while others arrive', () => {
  const reads = fc.infiniteStream(fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 40_000 })));
  fc.assert(
    fc.property(fc.array(sizes, { minLength: 1, maxLength: 12 }), reads, (all, lengths) => {
      const sent = all.map((bytes, at) => response(bytes, at + 1));
      const stream = Buffer.concat(sent);
      const reader = new ResponseReader();
      const received: Buffer[] = [];
      for (let at = 0; at < stream.length; ) {
        const { room } = reader;
        const read = stream.copy(room, 0, at, Math.min(stream.length, at + (lengths.next().value ?? 1)));
        received.push(...reader.received(read));
        at += read;
      }
      assert.deepEqual(received, sent);
      received.forEach(giveBackBatch);
    }),
    { numRuns: 200, endOnFailure: true },
  );
});

test('a socket delivers large responses as one, and closes where something else answers', async (t) => {
  const sent = [response(3_000_000, 1), response(10, 2)];
  const server = createServer((socket) => {
    for (const bytes of sent) socket.write(bytes);
    socket.write('HTTP/1.1 400 Bad Request');
  });
  t.after(() => server.close());
  server.listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const plain = false as unknown as Parameters<typeof framedSockets>[0]['ssl'];
  const socket = framedSockets({ host: '127.0.0.1', port, ssl: plain, onConnect: () => undefined });
  const received: Buffer[] = [];
  socket.on('data', (bytes) => received.push(bytes));
  const [error] = await once(socket, 'error');
  assert.deepEqual(received, sent);
  assert.match(error.message, /A response of 1213486160 bytes was announced: this is no Kafka broker/);
});
