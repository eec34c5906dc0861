import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkerEvents } from '../../../src/stream/worker.ts';
import { streamEvents, streamRun } from '../../fixture/stream-run.ts';

test('a worker that has joined says that the log is in reach, without having lost it before', async () => {
  const said: (Error | null)[] = [];
  const connection: WorkerEvents['connection'] = (error) => void said.push(error);
  const worker = await streamRun().start({ events: { ...streamEvents(), connection } });
  assert.deepEqual(said, [null]);
  await worker.stop();
});
