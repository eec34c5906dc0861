import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cacheFolder } from '../../../src/config/process-environment.ts';
import { startHttpReceiver } from '../../fixture/alerts/http-receiver.ts';
import { startCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { kafkaTest } from '../../fixture/kafka/kafka.ts';
import { until } from '../../fixture/until.ts';

kafkaTest('the demo with a routes file sends its events, and ends at Ctrl-C', async (t) => {
  const hook = await startHttpReceiver();
  const folder = freshFolder();
  const routes = join(folder, 'alerts.yaml');
  await writeFile(
    routes,
    `allow_private: [127.0.0.1]
receivers: [{ name: hook, webhook: { url: "${hook.url}" } }]
routes: [{ name: all, receivers: hook }]`,
  );
  const XDG_CACHE_HOME = dirname(cacheFolder());
  const env = { XDG_CACHE_HOME, DATA_DIR: join(folder, 'data'), OPS_PORT: '0', HTTP_PORT: '0' };
  const startMs = performance.now();
  const demo = startCommand(['start', '--routes', routes], env);
  await until('an event is sent', () => hook.posts.length > 0);
  const { type, data } = JSON.parse(hook.posts[0].body);
  const seconds = (performance.now() - startMs) / 1_000;
  t.diagnostic(`${seconds.toFixed(1)} s from the start to the first event at a webhook: ${data.title}`);
  demo.interrupt();
  assert.deepEqual([type, await demo.exitCode, demo.err], ['anomaly.opened', 0, []]);
});
