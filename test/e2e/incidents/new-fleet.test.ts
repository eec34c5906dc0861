/** The size of a fleet without a past comes from its scores, which a worker writes in transactions. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { measureFleet } from '../../../src/app/processes/incidents/fleet-size.ts';
import type { StreamLog } from '../../../src/engine/log/log.ts';
import { produceRecords } from '../../../src/kafka/produce/bulk-producer.ts';
import type { Incident } from '../../../src/records/incident.ts';
import { revisionsOf } from '../../fixture/alerts/notification.ts';
import { startCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { endedIncidents } from '../../fixture/incidents/kept-incidents.ts';
import { committedRecords, freshLog, kafkaTest } from '../../fixture/kafka/kafka.ts';
import { seededRandom } from '../../fixture/seeded-random.ts';
import { until } from '../../fixture/until.ts';

/** Long before the clock of the broker, which transactions are marked with. */
const START = Date.UTC(2026, 4, 1);
const STEP_MS = 60_000;
const SPAN_MS = 3 * STEP_MS;
const PARTITIONS = 4;

/** Scores of a fleet, step by step, in commits of so many series. */
async function writeScores(
  log: StreamLog,
  topic: string,
  { series, steps, together }: { readonly series: number; readonly steps: number; readonly together: number },
): Promise<void> {
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const session = await log.openPartition(partition);
    const own = Array.from({ length: series }, (_, i) => i).filter((i) => i % PARTITIONS === partition);
    for (let at = 0; at < steps * own.length; at += together) {
      const outputs = Array.from({ length: Math.min(together, steps * own.length - at) }, (_, i) => {
        const [each, step] = [own[(at + i) % own.length], Math.floor((at + i) / own.length)];
        const key = Buffer.from(`host-${each}/cpu`);
        return { topic, partition, key, value: Buffer.from('{}'), timestampMs: START + step * STEP_MS };
      });
      await session.commit(outputs, at);
    }
    await session.close();
  }
}

for (const size of [
  { series: 8, steps: 40, together: 1 },
  { series: 300, steps: 20, together: 75 },
  { series: 20_000, steps: 9, together: 2_000 },
]) {
  kafkaTest(`the size of a fleet of ${size.series} series is that of its newest steps`, async (t) => {
    const { connection, log, topics } = await freshLog(t, { partitions: PARTITIONS });
    assert.equal(await measureFleet(connection, topics.scores, SPAN_MS), null);
    await writeScores(log, topics.scores, size);
    const fleet = (await measureFleet(connection, topics.scores, SPAN_MS))!;
    const [measured, expected] = [fleet.perMs * SPAN_MS, 3 * size.series];
    assert.ok(Math.abs(measured - expected) <= expected / 8, `${measured} instead of ${expected}`);
    const sample = await fleet.sample(seededRandom(1));
    assert.ok(sample.length >= Math.min(expected, 490), `${sample.length} are sampled`);
    const lower = sample.filter((id) => Number(/\d+/.exec(id)![0]) < size.series / 2).length / sample.length;
    assert.ok(Math.abs(lower - 1 / 2) < 0.1, `${lower} of the sample are of the lower half`);
  });
}

kafkaTest('12 events at once of a new fleet of 300 series are one incident, also after a backlog', async (t) => {
  const [series, steps, moved] = [300, 60, 12];
  const { connection, log, topics } = await freshLog(t, { partitions: PARTITIONS });
  const { scores, events } = topics;
  const output = `incidents-${events}`;
  const detectors = join(freshFolder(), 'detectors.yaml');
  const detector = '{ name: cpu, series: "*", freq: min, h: 24, detection_size: 24 }';
  writeFileSync(detectors, `topics: { scores: ${scores}, events: ${events} }\ndetectors: [${detector}]`);
  await writeScores(log, scores, { series, steps, together: 75 });
  const incidents = startCommand(['incidents', '--detectors', detectors, '--from-beginning'], {
    KAFKA_BROKERS: connection.config.brokers.join(),
    KAFKA_GROUP_ID: `group-${events}`,
    OPS_PORT: '0',
    INCIDENTS_TOPIC: output,
  });
  t.after(() => incidents.kill());
  await incidents.until(() => incidents.out.some((line) => line.includes('incidents started')));
  const startedAtMs = START + steps * STEP_MS;
  const atOnce = Array.from({ length: moved }, (_, i) => {
    const { opened } = revisionsOf(i, { series: `host-${i}/cpu`, startedAtMs, updatedAtMs: startedAtMs, labels: {} });
    return { key: Buffer.from(opened.series!), value: Buffer.from(JSON.stringify(opened)) };
  });
  await produceRecords(connection, events, atOnce);
  const written = async () => {
    const records = await committedRecords(output, 0);
    return endedIncidents(records.map(({ value }) => JSON.parse(value!.toString()) as Incident));
  };
  await until('every event is in one incident', async () => {
    const [first, ...others] = await written();
    return first?.events.length === moved && others.length === 0;
  });
  const actual = incidents.err.filter((line) => line.includes('the size of the fleet'));
  assert.deepEqual(actual, []);
});
