import assert from 'node:assert/strict';
import type { DetectorConfig } from '../../../../src/config/config.ts';
import type { OutputRecord } from '../../../../src/engine/log/log.ts';
import { produceRecords } from '../../../../src/kafka/produce/bulk-producer.ts';
import type { ScoreRecord } from '../../../../src/records/score-record.ts';
import { kafkaConnection, kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { kafkaWorld } from '../../../fixture/kafka/kafka-world.ts';
import {
  detectorConfig,
  observationRecord,
  streamConfig,
  streamRun,
  streamSettings,
} from '../../../fixture/stream/stream-run.ts';
import { until } from '../../../fixture/until.ts';
import { type GoldenFile, goldenNames, readGolden } from '../../../golden/changelog/golden-file.ts';

/** Observations of one burst of the live stream. */
const BURST = 7;

/** The defaults of the present version, for a detector of the earlier one. */
function upgradedDetector({ detector: { group, settings } }: GoldenFile): DetectorConfig {
  return detectorConfig({ group, settings: streamSettings({ ...settings, calibration: 'robust', alarmRate: 0.001 }) });
}

/** What the earlier version left behind: its changelog, committed together with its input offset. */
function changelogOf({ changelog }: GoldenFile, topic: string): OutputRecord[] {
  return changelog.map(([key, value]) => {
    const bytes = value === null ? null : Buffer.from(value, 'base64');
    return { topic, partition: 0, key: Buffer.from(key), value: bytes };
  });
}

for (const { format, name } of goldenNames().filter(({ format }) => format === 1)) {
  kafkaTest(`an upgrade under a live stream starts no series over: format ${format}, ${name}`, async () => {
    const golden = readGolden(format, name);
    const { observations, committed, scores: expected } = golden;
    const world = await kafkaWorld(1);
    const connection = await kafkaConnection();
    const append = (from: number, to: number) => {
      const records = observations.slice(from, to).map(([series, step, value, group]) => {
        return { partition: 0, ...observationRecord(series, step, value, group) };
      });
      return produceRecords(connection, world.topics.observations, records);
    };
    await append(0, committed);
    const before = world.openLog();
    const session = await before.openPartition(0);
    await session.commit(changelogOf(golden, world.topics.changelog), committed);
    await session.close();
    await before.close();

    const detector = upgradedDetector(golden);
    const run = streamRun({ detectors: [detector], limits: { seriesMax: golden.detector.seriesMax } });
    const live = (async () => {
      for (let i = committed; i < observations.length; i += BURST) await append(i, i + BURST);
    })();
    const stream = { ...streamConfig([detector]), topics: world.topics };
    const worker = await run.start({ log: world.openLog(), stream });
    await live;
    const scored = async () => {
      const records = await world.committed(world.topics.scores, 0);
      return records.map(({ value }) => JSON.parse(value!.toString()) as ScoreRecord);
    };
    await until('every observation is scored', async () => (await scored()).length >= expected.length);
    await worker.stop();

    const scores = await scored();
    const place = ({ series, position, restarted, state }: (typeof expected)[number]) => ({
      series,
      position,
      restarted,
      state,
    });
    assert.deepEqual(
      scores.map(({ series, position, restarted, state }) => ({ series, position, restarted, state })),
      expected.map(place),
    );
    assert.ok(scores.every(({ forecast, grade }) => forecast === null || typeof grade === 'number'));
    assert.ok(scores.some(({ grade }) => grade !== null));
  });
}
