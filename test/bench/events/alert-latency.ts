/** From the transaction of an event to a webhook: the command alerts in a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Topics } from '../../../src/config/config.ts';
import { createKafkaLog } from '../../../src/engine/log/kafka-log.ts';
import type { KafkaConnection } from '../../../src/kafka/cluster/connection.ts';
import { firstEvent } from '../../fixture/alerts/first-event.ts';
import { revisionsOf } from '../../fixture/alerts/notification.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import type { Figures } from '../bench.ts';
import { makeTopics, withBroker } from '../local-broker.ts';
import { printTable, rounded } from '../table.ts';

const MAIN = join(import.meta.dirname, '../../../src/main.ts');
const WARM_UP = 40;
const EVENTS = 400;
const EVERY_MS = 50;
const ARRIVAL_MS_MAX = 10_000;

/** p50 and p99 of `EVENTS` events, one every `EVERY_MS`, in transactions as a worker's. */
export function alertFigures(): Promise<Figures> {
  return withBroker(async (connection) => {
    const topics = await makeTopics(connection, 'alerts');
    const arrivals = await receiveAlerts();
    const stop = await startAlerts(connection, topics, arrivals.url);
    try {
      const latencies = await tellEvents(connection, topics, arrivals.atMs);
      latencies.sort((one, other) => one - other);
      const at = (share: number) => latencies[Math.floor(share * latencies.length)];
      const columns = ['', 'events', 'p50 ms', 'p99 ms', 'max ms'];
      printTable('from the start of its transaction to the webhook', columns, [
        [`one event every ${EVERY_MS} ms`, latencies.length, at(0.5), at(0.99), latencies.at(-1)!],
      ]);
      return { alert_p50_ms: rounded(at(0.5)), alert_p99_ms: rounded(at(0.99)) };
    } finally {
      await stop();
      arrivals.close();
    }
  });
}

/** From `npm start` on a fresh data folder to the first event of the demo at a webhook. */
export async function startFigures(): Promise<Figures> {
  const { seconds, title } = await firstEvent();
  console.log(`\n${seconds.toFixed(1)} s from npm start to the first event at a webhook: ${title}`);
  return { first_alert_seconds: rounded(seconds) };
}

/** A webhook that notes when each event arrives. */
async function receiveAlerts() {
  const atMs = new Map<string, number>();
  const server = createServer(async (request, response) => {
    const nowMs = performance.now();
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    response.end();
    for (const { dedupKey } of JSON.parse(Buffer.concat(chunks).toString()).data.events) atMs.set(dedupKey, nowMs);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { atMs, close, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Runs `alerts` as its users do, until it says that it sends. */
async function startAlerts({ config }: KafkaConnection, topics: Topics, url: string): Promise<() => Promise<void>> {
  const folder = freshFolder();
  const [routes, detectors] = [join(folder, 'routes.yaml'), join(folder, 'detectors.yaml')];
  await writeFile(
    routes,
    `allow_private: [127.0.0.1]
receivers: [{ name: hook, webhook: { url: "${url}" } }]
routes: [{ name: all, receivers: hook }]`,
  );
  await writeFile(
    detectors,
    `topics: { events: ${topics.events} }\ndetectors: [{ name: a, series: "*", freq: h, h: 24, detection_size: 24 }]`,
  );
  const child = spawn(
    process.execPath,
    [MAIN, 'alerts', '--routes', routes, '--detectors', detectors, '--from-beginning'],
    {
      env: { PATH: process.env.PATH, KAFKA_BROKERS: config.brokers.join(), OPS_PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const exit = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.includes('this process sends')) break;
  }
  child.stdout.resume();
  return async () => {
    child.kill();
    await exit;
  };
}

async function tellEvents(connection: KafkaConnection, topics: Topics, arrivedMs: ReadonlyMap<string, number>) {
  const log = createKafkaLog({ ...connection, topics, groupId: 'bench-alerts', sessionMs: 10_000 });
  const session = await log.openPartition(0);
  const sentMs = new Map<string, number>();
  const arrived = async (ids: readonly string[]) => {
    const deadlineMs = performance.now() + ARRIVAL_MS_MAX;
    while (!ids.every((id) => arrivedMs.has(id))) {
      if (performance.now() > deadlineMs) throw new Error('an event did not arrive');
      await sleep(10);
    }
  };
  for (let number = 0; number < WARM_UP + EVENTS; number++) {
    const nextMs = performance.now() + EVERY_MS;
    const { opened } = revisionsOf(number);
    sentMs.set(opened.eventId, performance.now());
    const value = Buffer.from(JSON.stringify(opened));
    await session.commit([{ topic: topics.events, partition: 0, key: Buffer.from(opened.series!), value }], number);
    // The first one also waits until the alerts read.
    if (number === 0) await arrived([opened.eventId]);
    await sleep(Math.max(0, nextMs - performance.now()));
  }
  await arrived([...sentMs.keys()]);
  await log.close();
  return [...sentMs].slice(WARM_UP).map(([id, ms]) => arrivedMs.get(id)! - ms);
}
