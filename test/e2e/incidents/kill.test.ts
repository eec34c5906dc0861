/** Incidents are exactly once over kill -9. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { produceRecords } from '../../../src/kafka/produce/bulk-producer.ts';
import type { AnomalyEvent } from '../../../src/records/anomaly-event.ts';
import type { Incident } from '../../../src/records/incident.ts';
import { revisionsOf } from '../../fixture/alerts/notification.ts';
import { startCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { endedIncidents } from '../../fixture/incidents/kept-incidents.ts';
import { committedRecords, freshTopics, kafkaConnection, kafkaTest } from '../../fixture/kafka/kafka.ts';
import { until } from '../../fixture/until.ts';

const HOUR = 3_600_000;
const START = Date.UTC(2026, 4, 1);
const PAST = 60;
const FAULTS = 4;
const HOSTS = 15;
const KILLS = 4;

const folder = freshFolder();

/** All revisions of an event of a host, in their order. */
function life(number: number, host: number, atMs: number): readonly AnomalyEvent[] {
  const series = `host-${host}/cpu`;
  return Object.values(revisionsOf(number, { series, startedAtMs: atMs, updatedAtMs: atMs, labels: {} }));
}

/** Topics of a test, and the command over them. */
async function grouping(flags: readonly string[] = []) {
  const topics = await freshTopics(4);
  const { config } = await kafkaConnection();
  const output = `incidents-${topics.events}`;
  const detectors = join(folder, `${topics.events}.yaml`);
  const detector = '{ name: cpu, series: "*", freq: min, h: 24, detection_size: 24 }';
  writeFileSync(detectors, `topics: { events: ${topics.events} }\ndetectors: [${detector}]`);
  const env = {
    KAFKA_BROKERS: config.brokers.join(),
    KAFKA_GROUP_ID: `group-${topics.events}`,
    KAFKA_SESSION_MS: '1500',
    OPS_PORT: '0',
    INCIDENTS_TOPIC: output,
    // Longer than partitions are read apart.
    INCIDENT_QUIET_MS: '3000',
  };
  return {
    env,
    detectors,
    start: () => startCommand(['incidents', '--detectors', detectors, ...flags], env),
    write: (events: readonly AnomalyEvent[]) => {
      const records = events.map((event) => {
        return { key: Buffer.from(event.series ?? ''), value: Buffer.from(JSON.stringify(event)) };
      });
      return produceRecords({ config }, topics.events, records);
    },
    written: async (): Promise<readonly Incident[]> => {
      const records = await committedRecords(output, 0);
      return records.map(({ value }) => JSON.parse(value!.toString()));
    },
  };
}

kafkaTest('the first start begins with open events, and leaves those that have ended', async (t) => {
  const { start, write, written } = await grouping();
  const [over, open] = [life(1, 1, START), life(2, 2, START + HOUR)];
  await write([...over, ...open.slice(0, 2)]);
  const first = start();
  t.after(() => first.kill());
  const series = async () => (await written()).flatMap(({ events }) => events.map((event) => event.series));
  await until('the open event is in an incident', async () => (await series()).length > 0);
  await write(life(3, 3, START + 20 * HOUR));
  await until('it continues', async () => (await series()).includes('host-3/cpu'));
  assert.deepEqual(await series(), ['host-2/cpu', 'host-3/cpu']);
});

kafkaTest(
  'a process that is killed repeatedly writes each incident once, with every event in one of them',
  async (t) => {
    const { start, write, written, env, detectors } = await grouping(['--from-beginning']);
    const ended = (incidents: readonly Incident[]) => incidents.filter(({ type }) => type === 'closed').length;

    // What the fleet is like without a fault.
    await write(Array.from({ length: PAST }, (_, i) => life(i, i % HOSTS, START + i * HOUR)).flat());
    let process = start();
    await until('the past is over', async () => ended(await written()) === PAST);

    const faults = Array.from({ length: FAULTS * HOSTS }, (_, i) => {
      return life(PAST + i, i % HOSTS, START + (PAST + 10 * (1 + Math.floor(i / HOSTS))) * HOUR);
    });
    const events = [0, 1, 2].flatMap((revision) => faults.map((each) => each[revision]));
    const share = Math.ceil(events.length / KILLS);
    for (let kill = 0; kill < KILLS; kill++) {
      const before = (await written()).length;
      await write(events.slice(kill * share, (kill + 1) * share));
      await until('it writes', async () => (await written()).length > before, { everyMs: 20 });
      await sleep(randomInt(300));
      process.kill();
      await process.exitCode;
      t.diagnostic(`killed after ${(await written()).length} revisions`);
      process = start();
    }
    const all = PAST + FAULTS * HOSTS;
    await until('every incident has ended', async () => {
      const revisions = await written();
      const count = endedIncidents(revisions).reduce((sum, incident) => sum + incident.events.length, 0);
      const types = new Map(revisions.map(({ incidentId, type }) => [incidentId, type]));
      return count === all && [...types.values()].every((type) => type === 'closed' || type === 'merged');
    });
    process.interrupt();
    assert.equal(await process.exitCode, 0, process.err.join('\n'));

    const incidents = await written();
    const named = incidents.flatMap((incident) => incident.events.map(({ eventId }) => eventId));
    assert.equal(named.length, all, 'each event is named once');
    assert.equal(new Set(named).size, all);
    for (const [id, revisions] of Map.groupBy(incidents, ({ incidentId }) => incidentId)) {
      assert.deepEqual(
        revisions.map(({ revision }) => revision),
        revisions.map((_, i) => i),
        id,
      );
      assert.equal(revisions[0].type, 'opened');
      assert.equal(revisions.filter(({ type }) => type === 'closed' || type === 'merged').length, 1, id);
    }
    const sizes = endedIncidents(incidents).map((incident) => incident.events.length);
    assert.equal(sizes.filter((size) => size === HOSTS).length, FAULTS, `${sizes}`);

    const watch = startCommand(['watch', '--incidents', '--json', '--from-beginning', '--detectors', detectors], env);
    await watch.until(() => watch.out.length === incidents.length);
    watch.interrupt();
    assert.equal(await watch.exitCode, 0);
    assert.deepEqual(
      watch.out.map((line) => JSON.parse(line)),
      incidents,
    );
  },
);
