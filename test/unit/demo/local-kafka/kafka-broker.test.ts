import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { startKafka } from '../../../../src/demo/local-kafka/kafka-broker.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';

test('a port that another program has is refused with the next one, before Java is looked for', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const folder = freshFolder();
  try {
    await assert.rejects(startKafka({ cacheDir: folder, dataDir: folder, port }), {
      code: 'configuration',
      message: new RegExp(`^127\\.0\\.0\\.1:${port} is taken by another program: .*--port ${port + 1}`),
    });
  } finally {
    server.close();
  }
});
