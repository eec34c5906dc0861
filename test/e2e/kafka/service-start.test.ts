import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { kafkaTest } from '../../fixture/kafka/kafka.ts';
import { until } from '../../fixture/until.ts';

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
