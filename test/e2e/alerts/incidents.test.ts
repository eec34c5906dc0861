/** Incidents are told once over kill -9 of both processes: of that which makes them, and of that which tells them. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startAlertmanager, whyNoAlertmanager } from '../../fixture/alerts/alertmanager.ts';
import { startHttpReceiver } from '../../fixture/alerts/http-receiver.ts';
import { revisionsOf } from '../../fixture/alerts/notification.ts';
import { alertsWorld } from '../../fixture/kafka/alerts-process.ts';
import { kafkaTest } from '../../fixture/kafka/kafka.ts';
import { until } from '../../fixture/until.ts';

const HOUR = 3_600_000;
const START = Date.UTC(2026, 4, 1);
const PAST = 60;
const HOSTS = 12;
const FAULTS = 4;
const KILLS = 2;

interface Told {
  readonly id: string;
  readonly type: string;
  readonly dedupKey: string;
  readonly kind: string;
  readonly eventCount: number;
}

/** All revisions of an event of a host, in their order. */
function life(number: number, host: number, atMs: number) {
  const series = `host-${host}/cpu`;
  return Object.values(revisionsOf(number, { series, startedAtMs: atMs, updatedAtMs: atMs, labels: {} }));
}

kafkaTest(
  'notifications of incidents arrive in order, each with one key, while both processes are killed',
  async (t) => {
    const accepted: Told[] = [];
    const hook = await startHttpReceiver((response, { headers, body }) => {
      if (randomInt(5) === 0) {
        response.writeHead(503).end();
        return;
      }
      const id = String(headers['webhook-id']);
      for (const incident of JSON.parse(body).data.incidents) accepted.push({ id, ...incident });
      response.writeHead(200).end();
    });
    const alertmanager =
      whyNoAlertmanager === null ? await startAlertmanager(t, { webhook: (await startHttpReceiver()).url }) : null;
    const world = await alertsWorld(`
allow_private: [127.0.0.1]
receivers:
  - { name: hook, webhook: { url: "${hook.url}" } }
  - { name: am, alertmanager: { url: "${alertmanager?.url ?? hook.url}" } }
routes:
  - { name: all, on: incidents, receivers: ${alertmanager === null ? 'hook' : '[hook, am]'}, updates: true, group_wait: 1s }`);
    const ended = () => new Set(accepted.filter(({ type }) => type === 'closed').map(({ dedupKey }) => dedupKey));

    // What the fleet is like without a fault.
    let [grouping, telling] = [world.startIncidents(), world.start()];
    await world.write(Array.from({ length: PAST }, (_, i) => life(i, i % HOSTS, START + i * HOUR)).flat());
    await until('the past is told', () => ended().size === PAST);

    const faults = Array.from({ length: FAULTS * HOSTS }, (_, i) => {
      return life(PAST + i, i % HOSTS, START + (PAST + 10 * (1 + Math.floor(i / HOSTS))) * HOUR);
    });
    const events = [0, 1, 2].flatMap((revision) => faults.map((each) => each[revision]));
    const share = Math.ceil(events.length / KILLS);
    for (let kill = 0; kill < KILLS; kill++) {
      const before = accepted.length;
      await world.write(events.slice(kill * share, (kill + 1) * share));
      await until('it tells', () => accepted.length > before, { everyMs: 20 });
      await sleep(randomInt(300));
      for (const process of [grouping, telling]) process.kill();
      await Promise.all([grouping.exitCode, telling.exitCode]);
      t.diagnostic(`killed after ${accepted.length} messages`);
      [grouping, telling] = [world.startIncidents(), world.start()];
    }
    const isWhole = ({ type, kind, eventCount }: Told) =>
      type === 'closed' && kind === 'simultaneous' && eventCount === HOSTS;
    await until('every fault is told to its end', () => {
      return new Set(accepted.filter(isWhole).map(({ dedupKey }) => dedupKey)).size === FAULTS;
    });
    // Where an acceptance was not written, a message is repeated, and those that follow it.
    await until('the end of each is told last', () => {
      const lasts = new Map(accepted.map(({ dedupKey, type }) => [dedupKey, type]));
      return [...lasts.values()].every((type) => type === 'closed');
    });
    for (const [key, messages] of Map.groupBy(accepted, ({ dedupKey }) => dedupKey)) {
      const first = [...new Map(messages.map((message) => [`${message.id} ${message.type}`, message])).values()];
      const types = first.map(({ type }) => type);
      assert.deepEqual([types[0], types.at(-1)], ['opened', 'closed'], key);
      assert.equal(types.filter((type) => type !== 'updated').length, 2, `${key}: ${types}`);
      assert.match(key, /^incident-[0-9a-f]{32}$/);
    }
    if (alertmanager !== null)
      await until('Alertmanager has nothing open', async () => (await alertmanager.alerts()).length === 0);
    for (const process of [grouping, telling]) process.terminate();
    assert.deepEqual(await Promise.all([grouping.exitCode, telling.exitCode]), [0, 0]);
  },
);
