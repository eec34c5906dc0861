/** The size of a fleet without a past comes from its scores. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { produceRecords } from '../../../src/kafka/produce/bulk-producer.ts';
import type { Incident } from '../../../src/records/incident.ts';
import { revisionsOf } from '../../fixture/alerts/notification.ts';
import { startCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { endedIncidents } from '../../fixture/incidents/kept-incidents.ts';
import { committedRecords, freshTopics, kafkaConnection, kafkaTest } from '../../fixture/kafka/kafka.ts';
import { until } from '../../fixture/until.ts';

const START = Date.UTC(2026, 4, 1);
const [SERIES, STEPS, STEP_MS, MOVED] = [300, 5, 60_000, 30];

kafkaTest('30 events at once of a new fleet of 300 series are one incident', async (t) => {
  const { scores, events } = await freshTopics(4);
  const connection = await kafkaConnection();
  const output = `incidents-${events}`;
  const detectors = join(freshFolder(), 'detectors.yaml');
  const detector = '{ name: cpu, series: "*", freq: min, h: 24, detection_size: 24 }';
  writeFileSync(detectors, `topics: { scores: ${scores}, events: ${events} }\ndetectors: [${detector}]`);
  const scored = Array.from({ length: SERIES * STEPS }, (_, i) => {
    const [series, step] = [i % SERIES, Math.floor(i / SERIES)];
    return { key: Buffer.from(`host-${series}/cpu`), value: Buffer.from('{}'), timestampMs: START + step * STEP_MS };
  });
  await produceRecords(connection, scores, scored);
  const incidents = startCommand(['incidents', '--detectors', detectors, '--from-beginning'], {
    KAFKA_BROKERS: connection.config.brokers.join(),
    KAFKA_GROUP_ID: `group-${events}`,
    OPS_PORT: '0',
    INCIDENTS_TOPIC: output,
  });
  t.after(() => incidents.kill());
  await incidents.until(() => incidents.out.some((line) => line.includes('incidents started')));
  const startedAtMs = START + STEPS * STEP_MS;
  const moved = Array.from({ length: MOVED }, (_, i) => {
    const { opened } = revisionsOf(i, { series: `host-${i}/cpu`, startedAtMs, updatedAtMs: startedAtMs, labels: {} });
    return { key: Buffer.from(opened.series!), value: Buffer.from(JSON.stringify(opened)) };
  });
  await produceRecords(connection, events, moved);
  const written = async () => {
    const records = await committedRecords(output, 0);
    return endedIncidents(records.map(({ value }) => JSON.parse(value!.toString()) as Incident));
  };
  await until('every event is in one incident', async () => {
    const [first, ...others] = await written();
    return first?.events.length === MOVED && others.length === 0;
  });
  assert.deepEqual(
    incidents.err.filter((line) => line.includes('the size of the fleet')),
    [],
  );
});
