/** Incidents are exactly once over kill -9 of both processes: the one that writes them, and the one that sends them. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Incident } from '../../../src/records/incident.ts';
import { startAlertmanager, whyNoAlertmanager } from '../../fixture/alerts/alertmanager.ts';
import { startHttpReceiver } from '../../fixture/alerts/http-receiver.ts';
import { revisionsOf } from '../../fixture/alerts/notification.ts';
import { endedIncidents } from '../../fixture/incidents/kept-incidents.ts';
import { alertsWorld } from '../../fixture/kafka/alerts-process.ts';
import { kafkaTest } from '../../fixture/kafka/kafka.ts';
import { until } from '../../fixture/until.ts';

const HOUR = 3_600_000;
const START = Date.UTC(2026, 4, 1);
const PAST = 60;
const HOSTS = 15;
const FAULTS = 4;
const KILLS = 4;

interface Sent {
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

kafkaTest('the first start begins with open events, and leaves those that have ended', async (t) => {
  const { startIncidents, write, incidents } = await alertsWorld('routes: []');
  const [over, open] = [life(1, 1, START), life(2, 2, START + HOUR)];
  await write([...over, ...open.slice(0, 2)]);
  const first = startIncidents();
  t.after(() => first.kill());
  const series = async () => (await incidents()).flatMap(({ events }) => events.map((event) => event.series));
  await until('the open event is in an incident', async () => (await series()).length > 0);
  await write(life(3, 3, START + 20 * HOUR));
  await until('it continues', async () => (await series()).includes('host-3/cpu'));
  assert.deepEqual(await series(), ['host-2/cpu', 'host-3/cpu']);
});

kafkaTest('incidents are written once and notified in order, while both processes are killed', async (t) => {
  const accepted: Sent[] = [];
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
  const start = () => [world.startIncidents('--from-beginning'), world.start()];
  const ended = () => new Set(accepted.filter(({ type }) => type === 'closed').map(({ dedupKey }) => dedupKey));

  // What the fleet is like without a fault.
  let processes = start();
  await world.write(Array.from({ length: PAST }, (_, i) => life(i, i % HOSTS, START + i * HOUR)).flat());
  await until('the end of the past is sent', () => ended().size === PAST);

  const faults = Array.from({ length: FAULTS * HOSTS }, (_, i) => {
    return life(PAST + i, i % HOSTS, START + (PAST + 10 * (1 + Math.floor(i / HOSTS))) * HOUR);
  });
  const events = [0, 1, 2].flatMap((revision) => faults.map((each) => each[revision]));
  const share = Math.ceil(events.length / KILLS);
  for (let kill = 0; kill < KILLS; kill++) {
    const before = accepted.length;
    await world.write(events.slice(kill * share, (kill + 1) * share));
    await until('a message is sent', () => accepted.length > before, { everyMs: 20 });
    await sleep(randomInt(300));
    for (const process of processes) process.kill();
    await Promise.all(processes.map(({ exitCode }) => exitCode));
    t.diagnostic(`killed after ${(await world.incidents()).length} revisions, ${accepted.length} messages`);
    processes = start();
  }
  const isWhole = ({ type, kind, eventCount }: Sent) =>
    type === 'closed' && kind === 'simultaneous' && eventCount === HOSTS;
  await until('the end of every fault is sent', () => {
    return new Set(accepted.filter(isWhole).map(({ dedupKey }) => dedupKey)).size === FAULTS;
  });
  // Where an acceptance was not written, a message is repeated, and those that follow it.
  await until('the end of each is sent last', () => {
    const lasts = new Map(accepted.map(({ dedupKey, type }) => [dedupKey, type]));
    return [...lasts.values()].every((type) => type === 'closed');
  });
  assertInOrder(accepted);
  if (alertmanager !== null)
    await until('Alertmanager has nothing open', async () => (await alertmanager.alerts()).length === 0);

  const all = PAST + FAULTS * HOSTS;
  await until('every incident has ended', async () => {
    const revisions = await world.incidents();
    const count = endedIncidents(revisions).reduce((sum, incident) => sum + incident.events.length, 0);
    const types = new Map(revisions.map(({ incidentId, type }) => [incidentId, type]));
    return count === all && [...types.values()].every((type) => type === 'closed' || type === 'merged');
  });
  for (const process of processes) process.terminate();
  assert.deepEqual(await Promise.all(processes.map(({ exitCode }) => exitCode)), [0, 0]);
  const incidents = await world.incidents();
  assertWrittenOnce(incidents, all);

  const watch = world.watchIncidents();
  await watch.until(() => watch.out.length === incidents.length);
  watch.interrupt();
  assert.equal(await watch.exitCode, 0);
  const actual = watch.out.map((line) => JSON.parse(line));
  assert.deepEqual(actual, incidents);
});

/** Each key is opened first, closed last and once, however often messages were repeated. */
function assertInOrder(accepted: readonly Sent[]): void {
  for (const [key, messages] of Map.groupBy(accepted, ({ dedupKey }) => dedupKey)) {
    const first = [...new Map(messages.map((message) => [`${message.id} ${message.type}`, message])).values()];
    const types = first.map(({ type }) => type);
    assert.deepEqual([types[0], types.at(-1)], ['opened', 'closed'], key);
    assert.equal(types.filter((type) => type !== 'updated').length, 2, `${key}: ${types}`);
    assert.match(key, /^incident-[0-9a-f]{32}$/);
  }
}

/** Revisions count from 0 to one end, every event is named once, and each fault is one incident. */
function assertWrittenOnce(incidents: readonly Incident[], eventCount: number): void {
  const named = incidents.flatMap((incident) => incident.events.map(({ eventId }) => eventId));
  assert.equal(named.length, eventCount, 'each event is named once');
  assert.equal(new Set(named).size, eventCount);
  for (const [id, revisions] of Map.groupBy(incidents, ({ incidentId }) => incidentId)) {
    const actual = revisions.map(({ revision }) => revision);
    const expected = revisions.map((_, i) => i);
    assert.deepEqual(actual, expected, id);
    assert.equal(revisions[0].type, 'opened');
    assert.equal(revisions.filter(({ type }) => type === 'closed' || type === 'merged').length, 1, id);
  }
  const sizes = endedIncidents(incidents).map((incident) => incident.events.length);
  assert.equal(sizes.filter((size) => size === HOSTS).length, FAULTS, `${sizes}`);
}
