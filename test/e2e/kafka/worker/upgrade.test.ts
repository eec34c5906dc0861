import assert from 'node:assert/strict';
import { POSITION_KEY } from '../../../../src/checkpoint/partition-records.ts';
import { createKafkaLog } from '../../../../src/engine/log/kafka-log.ts';
import type { OutputRecord } from '../../../../src/engine/log/log.ts';
import { produceRecords } from '../../../../src/kafka/produce/bulk-producer.ts';
import type { ScoreRecord } from '../../../../src/records/score-record.ts';
import { committedRecords, freshTopics, kafkaConnection, kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { streamConfig, streamRun } from '../../../fixture/stream/stream-run.ts';
import { until } from '../../../fixture/until.ts';
import { type GoldenScore, readGolden } from '../../../golden/changelog/golden-file.ts';
import { changelogOf, detectorOf, goldenScores, recordsOf } from '../../../golden/changelog/golden-run.ts';

/** As the last release wrote them. */
const FORMAT = 5;
/** Observations of one burst of the live stream. */
const BURST = 7;

/** The position in a changelog names the topic that it is of, and this one has another id. */
function ofThisTopic(record: OutputRecord): OutputRecord {
  if (!record.key?.equals(POSITION_KEY)) return record;
  return { ...record, value: Buffer.from(JSON.stringify({ ...JSON.parse(String(record.value)), topic_id: null })) };
}

for (const name of ['plain', 'group']) {
  kafkaTest(`an upgrade under a live stream continues to the scores of the last release: ${name}`, async (t) => {
    const golden = readGolden(FORMAT, name);
    const connection = await kafkaConnection();
    const topics = await freshTopics(1);
    const log = createKafkaLog({ ...connection, topics, groupId: `group-${topics.observations}`, sessionMs: 10_000 });
    t.after(() => log.close());
    const records = recordsOf(golden.detector, golden.observations).map((record) => ({ partition: 0, ...record }));
    const append = (from: number, to: number) =>
      produceRecords(connection, topics.observations, records.slice(from, to));
    await append(0, golden.committed);
    const session = await log.openPartition(0);
    await session.commit(changelogOf(golden, topics.changelog).map(ofThisTopic), golden.committed);
    await session.close();

    const detector = detectorOf(golden.detector);
    const run = streamRun({ detectors: [detector], limits: { seriesMax: golden.detector.seriesMax } });
    const worker = await run.start({ log, stream: { ...streamConfig([detector]), topics } });
    for (let at = golden.committed; at < records.length; at += BURST) await append(at, at + BURST);
    const scores = async () => {
      const written = await committedRecords(topics.scores, 0);
      return written.map(({ value }) => JSON.parse(String(value)) as ScoreRecord);
    };
    await until('every observation is scored', async () => (await scores()).length >= golden.scores.length);
    await worker.stop();
    // Series of one burst may be scored in another order.
    const inOrder = (all: readonly GoldenScore[]) => all.toSorted((a, b) => a.offset - b.offset);
    assert.deepEqual(inOrder(goldenScores(await scores())), inOrder(golden.scores));
  });
}
