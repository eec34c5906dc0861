import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { startKafka } from '../../../../src/demo/local-kafka/kafka-broker.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';
import { listening } from '../../../fixture/http/listening.ts';

test('a port that another program has is refused with the next one, before Java is looked for', async () => {
  const port = await listening(createServer());
  const folder = freshFolder();
  await assert.rejects(startKafka({ cacheDir: folder, dataDir: folder, port }), {
    code: 'configuration',
    message: new RegExp(`^127\\.0\\.0\\.1:${port} is taken by another program: .*--port ${port + 1}`),
  });
});
