import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KafkaConnection } from '../../../src/kafka/cluster/connection.ts';
import { tailTopic } from '../../../src/kafka/fetch/topic-tail.ts';
import { startProcess } from '../../fault/soak/soak-processes.ts';
import type { Figures } from '../bench.ts';
import { rounded } from '../table.ts';
import { TOPICS } from './fleet.ts';

/** Neither an event, an incident nor a message for so long: all of them were there. */
const QUIET_MS = 30_000;

/** `incidents` and `alerts` with one receiver, and how far the messages are behind the events. */
export async function startIncidentWatch(
  connection: KafkaConnection,
  { folder, env }: { readonly folder: string; readonly env: Readonly<Record<string, string>> },
) {
  let [messages, lastMs, lastEventMs, lastMessageMs] = [0, Date.now(), 0, 0];
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      messages++;
      lastMs = lastMessageMs = Date.now();
      response.writeHead(202).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const routes = join(folder, 'alerts.yaml');
  await writeFile(
    routes,
    `allow_private: [127.0.0.1]
receivers: [{ name: hook, webhook: { url: "http://127.0.0.1:${port}" } }]
routes: [{ name: incidents, on: incidents, receivers: hook }]
`,
  );
  const processes = [
    await startProcess(['incidents'], { folder, env, ready: 'incidents started' }),
    await startProcess(['alerts', '--routes', routes], { folder, env, ready: 'alerts started' }),
  ];
  const events = new Set<string>();
  /** The newest type of each incident. */
  const incidents = new Map<string, string>();
  const follow = (topic: string, take: (record: Readonly<Record<string, string>>) => void) =>
    tailTopic(
      connection,
      { topic, from: 'latest' },
      {
        onRecords(records) {
          lastMs = Date.now();
          for (const { value } of records) take(JSON.parse(value!.toString()));
        },
      },
    );
  const tails = [
    await follow(TOPICS.events, ({ eventId }) => {
      events.add(eventId);
      lastEventMs = lastMs;
    }),
    await follow('anomaly-incidents', ({ incidentId, type }) => incidents.set(incidentId, type)),
  ];
  return {
    async conclude(): Promise<Figures> {
      while (Date.now() - lastMs < QUIET_MS) await sleep(1_000);
      const crashes = processes.flatMap((process) => process.crash() ?? []);
      await Promise.all([...tails.map((tail) => tail.stop()), ...processes.map((process) => process.stop())]);
      server.closeAllConnections();
      server.close();
      const logs = await Promise.all(
        ['incidents', 'alerts'].map((name) => readFile(join(folder, `${name}.log`), 'utf8')),
      );
      const dropped = logs.join('').match(/"msg":"[^"]*(?:drop|gave up|given up)/g)?.length ?? 0;
      const merged = [...incidents.values()].filter((type) => type === 'merged').length;
      return {
        events: events.size,
        incidents: incidents.size - merged,
        merged_incidents: merged,
        messages,
        last_message_behind_last_event_s: rounded(Math.max(0, lastMessageMs - lastEventMs) / 1_000),
        lines_of_drops: dropped,
        watcher_crashes: crashes.length,
      };
    },
  };
}
