/** From the last of 10,000 events of a minute to the messages that have all of them: both commands, over real Kafka. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KafkaConnection } from '../../../src/kafka/cluster/connection.ts';
import { produceRecords } from '../../../src/kafka/produce/bulk-producer.ts';
import type { AnomalyEvent } from '../../../src/records/anomaly-event.ts';
import { revisionsOf } from '../../fixture/alerts/notification.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import type { Figures } from '../bench.ts';
import { makeTopics, withBroker } from '../local-broker.ts';
import { printTable, rounded } from '../table.ts';

const MAIN = join(import.meta.dirname, '../../../src/main.ts');
const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 0, 1);
const HOSTS = 500;
const PAST = 200;
const EVENTS = 10_000;
const SECONDS = 60;
const WAIT_MS_MAX = 300_000;

export function sentFigures(): Promise<Figures> {
  return withBroker(async (connection) => {
    const { events: topic } = await makeTopics(connection, 'sent');
    const hook = await startHook();
    const stop = await startCommands(connection, topic, hook.url);
    try {
      const write = (events: readonly AnomalyEvent[]) => {
        const records = events.map((event) => {
          return { key: Buffer.from(event.series ?? ''), value: Buffer.from(JSON.stringify(event)) };
        });
        return produceRecords(connection, topic, records);
      };
      // What the fleet is like without a fault.
      await write(Array.from({ length: PAST }, (_, i) => Object.values(eventOf(i, START + i * HOUR_MS))).flat());
      await hook.until(({ closed }) => closed === PAST);
      const faultMs = START + (PAST + 3) * HOUR_MS;
      const beginMs = performance.now();
      for (let second = 0; second < SECONDS; second++) {
        const share = (at: number) => Math.round((at * EVENTS) / SECONDS);
        const count = share(second + 1) - share(second);
        await sleep(Math.max(0, beginMs + second * 1_000 - performance.now()));
        await write(
          Array.from({ length: count }, (_, i) => eventOf(PAST + share(second) + i, faultMs + second * 1_000).opened),
        );
      }
      const lastMs = performance.now();
      await hook.until(({ sent }) => sumOf(sent) === PAST + EVENTS);
      const seconds = (performance.now() - lastMs) / 1_000;
      const columns = ['10,000 events', 'written in s', 'all sent after the last in s', 'messages'];
      const faults = [...hook.state.sent.values()].filter((count) => count > 1).length;
      printTable('From events to incidents that are sent', columns, [
        [`${faults} incidents`, rounded((lastMs - beginMs) / 1_000), rounded(seconds), hook.state.messages],
      ]);
      return { told_10000_s: rounded(seconds) };
    } finally {
      await stop();
      hook.close();
    }
  });
}

const sumOf = (sent: ReadonlyMap<string, number>) => [...sent.values()].reduce((sum, count) => sum + count, 0);

function eventOf(number: number, startedAtMs: number) {
  const [host, metric] = [number % HOSTS, Math.floor(number / HOSTS)];
  const series = `dc-${host % 2}/host-${host}/metric-${metric}`;
  return revisionsOf(number, { series, startedAtMs, updatedAtMs: startedAtMs, labels: {} });
}

interface HookState {
  /** Incidents that were closed, the newest number of events of each that was not merged, and all messages. */
  closed: number;
  readonly sent: Map<string, number>;
  messages: number;
}

async function startHook() {
  const state: HookState = { closed: 0, sent: new Map(), messages: 0 };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    response.end();
    const { incidents } = JSON.parse(Buffer.concat(chunks).toString()).data;
    state.messages++;
    for (const { type, incidentId, eventCount } of incidents) {
      if (type === 'merged') state.sent.delete(incidentId);
      else state.sent.set(incidentId, eventCount);
      if (type === 'closed') state.closed++;
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    state,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
    until: async (isRegistered: (state: HookState) => boolean) => {
      const deadlineMs = performance.now() + WAIT_MS_MAX;
      while (!isRegistered(state)) {
        if (performance.now() > deadlineMs)
          throw new Error(
            `not sent: ${state.closed} closed, ${sumOf(state.sent)} events in ${state.sent.size} incidents`,
          );
        await sleep(10);
      }
    },
  };
}

/** Runs `incidents` and `alerts` as their users do, until both say that they own their state. */
async function startCommands({ config }: KafkaConnection, topic: string, url: string): Promise<() => Promise<void>> {
  const folder = freshFolder();
  const [routes, detectors] = [join(folder, 'routes.yaml'), join(folder, 'detectors.yaml')];
  await writeFile(
    routes,
    `allow_private: [127.0.0.1]
receivers: [{ name: hook, webhook: { url: "${url}" } }]
routes: [{ name: all, on: incidents, receivers: hook, updates: true, group_wait: 1s }]`,
  );
  const detector = '{ name: cpu, series: "*", freq: min, h: 24, detection_size: 24 }';
  await writeFile(detectors, `topics: { events: ${topic} }\ndetectors: [${detector}]`);
  const env = { PATH: process.env.PATH, KAFKA_BROKERS: config.brokers.join(), OPS_PORT: '0' };
  const start = async (command: readonly string[]) => {
    const child = spawn(process.execPath, [MAIN, ...command, '--detectors', detectors, '--from-beginning'], {
      env: { ...env, INCIDENTS_TOPIC: `incidents-${topic}`, INCIDENT_QUIET_MS: '1000' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exit = once(child, 'exit');
    for await (const line of createInterface({ input: child.stdout })) if (line.includes('this process')) break;
    child.stdout.resume();
    return async () => {
      child.kill();
      await exit;
    };
  };
  const stops = [await start(['incidents']), await start(['alerts', '--routes', routes])];
  return async () => {
    for (const stop of stops) await stop();
  };
}
