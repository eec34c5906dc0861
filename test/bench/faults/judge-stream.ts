/** The detector that is measured, as users run it: a worker between topics of a real Kafka. */
import { setTimeout as sleep } from 'node:timers/promises';
import { meanStepMs } from '../../../src/calendar/frequency.ts';
import type { StreamConfig, Topics } from '../../../src/config/config.ts';
import type { KafkaConnection } from '../../../src/kafka/cluster/connection.ts';
import { tailTopic } from '../../../src/kafka/fetch/topic-tail.ts';
import { openBulkProducer } from '../../../src/kafka/produce/bulk-producer.ts';
import { isSilence, type ScoreRecord } from '../../../src/record/score-record.ts';
import { createScoreDecoder } from '../../../src/stream/codec/score-decoder.ts';
import { startWorker } from '../../../src/stream/engine/stream-worker.ts';
import type { BoundDetector } from '../../../src/stream/engine/unit/bound-detector.ts';
import { recordMapping } from '../../fixture/stream/record-mapping.ts';
import { ignoredReports } from '../../fixture/stream/stream-run.ts';
import { benchWorker } from '../bench-worker.ts';
import type { SeriesInput } from '../detection/labelled-data.ts';
import { boundTo, defaultDetector, noVerdicts, takeScore, type Verdicts, withModel } from '../detection/product.ts';
import { makeTopics } from '../local-broker.ts';
import { type Arrival, LATENESS_STEPS } from './faulty-records.ts';

const SEND_RECORDS = 5_000;
const PATIENCE_MS = 20;

/** Nobody waits for these scores: large transactions cost less. */
const LIMITS = { sessionMs: 30_000, commitIntervalMs: 200, commitRecordsMax: 20_000, queueRecordsMax: 40_000 };

/** What became of the records. */
export interface StreamOutcome {
  readonly verdicts: readonly Verdicts[];
  /** Dead letters by reason, duplicates, missing steps, series that started over. */
  readonly outcomes: Readonly<Record<string, number>>;
}

/** @param name of the run, in the names of its topics */
export async function judgeStream(
  connection: KafkaConnection,
  name: string,
  { inputs, arrivals }: { readonly inputs: readonly SeriesInput[]; readonly arrivals: readonly Arrival[] },
): Promise<StreamOutcome> {
  const topics = await makeTopics(connection, name);
  await produce(connection, topics.observations, arrivals);
  return withModel(async (forecasters, model) => {
    const detectors = inputs.map((input) => boundTo(streamDetector(input), forecasters, model));
    const verdicts = inputs.map(({ times }) => noVerdicts(times.length));
    const take = verdictTaker(inputs, arrivals, verdicts);
    const decode = createScoreDecoder('json', null);
    let read = 0;
    const tail = await tailTopic(
      connection,
      { topic: topics.scores, from: 'earliest' },
      {
        async onRecords(records) {
          for (const { value } of records) if (value !== null) take(await decode(value));
          read += records.length;
        },
      },
    );
    const { written, outcomes } = await work(connection, topics, { detectors, records: arrivals.length });
    while (read < written) await sleep(PATIENCE_MS);
    await tail.stop();
    return { verdicts, outcomes };
  });
}

function streamDetector(input: SeriesInput) {
  const { name, channels } = input;
  const detector = defaultDetector(input);
  const settings = { ...detector.settings, latenessMs: LATENESS_STEPS * meanStepMs(detector.settings.freq) };
  return { ...detector, name, series: [channels.length === 1 ? name : `${name}/*`], settings };
}

async function produce(connection: KafkaConnection, topic: string, arrivals: readonly Arrival[]): Promise<void> {
  const producer = await openBulkProducer(connection, topic);
  for (let start = 0; start < arrivals.length; start += SEND_RECORDS) {
    const records = arrivals.slice(start, start + SEND_RECORDS).map(({ series, group, timestampMs, value }) => {
      const observation = { series, timestamp: timestampMs, value, ...(group !== null && { group }) };
      return { key: Buffer.from(group ?? series), value: Buffer.from(JSON.stringify(observation)) };
    });
    await producer.send(records);
  }
  await producer.close();
}

/** Scores until so many records are committed, and counts what was written and what was not. */
async function work(
  connection: KafkaConnection,
  topics: Topics,
  { detectors, records }: { readonly detectors: readonly BoundDetector[]; readonly records: number },
): Promise<{ readonly written: number; readonly outcomes: Readonly<Record<string, number>> }> {
  const outcomes: Record<string, number> = {};
  const add = (what: string, count: number) => {
    outcomes[what] = (outcomes[what] ?? 0) + count;
  };
  const { promise: done, resolve } = Promise.withResolvers<null>();
  let [written, committed] = [0, 0];
  const groupId = topics.changelog;
  const worker = await startWorker({
    ...(await benchWorker({ kafka: connection.config, topics, groupId, limits: LIMITS })),
    stream: streamOf(topics, groupId, detectors),
    detectors,
    reports: {
      ...ignoredReports(),
      committed(_partition, commit, tally) {
        for (const count of Object.values(tally.scored)) written += count;
        for (const [reason, count] of Object.entries(tally.deadLetters)) add(reason, count);
        for (const [reason, count] of Object.entries(tally.restarted)) add(`started over: ${reason}`, count);
        add('duplicates', tally.duplicates);
        add('gaps', tally.gapsFilled);
        committed += commit.records;
        if (committed === records) resolve(null);
      },
    },
  });
  const failure = await Promise.race([worker.finished, done]);
  if (failure !== null) throw failure;
  await worker.stop();
  return { written, outcomes };
}

function streamOf(topics: Topics, groupId: string, detectors: readonly BoundDetector[]): StreamConfig {
  return {
    groupId,
    groupInstanceId: null,
    topics,
    input: recordMapping({ futureMsMax: null }),
    earlierChangelog: null,
    output: { format: 'json', compression: 'none', timestamps: 'event-time', headers: [] },
    detectors: detectors.map(({ config }) => config),
  };
}

/** Puts each score to the row that its record is of. */
function verdictTaker(
  inputs: readonly SeriesInput[],
  arrivals: readonly Arrival[],
  verdicts: readonly Verdicts[],
): (score: ScoreRecord) => void {
  const indexOf = new Map(inputs.map(({ name }, index) => [name, index]));
  const rows = new Map<string, Map<number, number>>();
  for (const { series, timestampMs, row } of arrivals) {
    const ofSeries = rows.get(series) ?? new Map<number, number>();
    if (!ofSeries.has(timestampMs)) rows.set(series, ofSeries.set(timestampMs, row));
  }
  return (score) => {
    const row = rows.get(score.series)?.get(score.timestampMs) ?? -1;
    if (!isSilence(score) && row >= 0) takeScore(verdicts[indexOf.get(score.detector)!], row, score);
  };
}
