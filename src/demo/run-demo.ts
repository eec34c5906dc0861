import { setTimeout as sleep } from 'node:timers/promises';
import { createEventDecoder } from '../codecs/event-codec.ts';
import { connectRegistry } from '../codecs/formats/registry.ts';
import { createRecordDecoder } from '../codecs/observations/record-decoder.ts';
import { createScoreDecoder } from '../codecs/score-decoder.ts';
import type { KafkaConfig, StreamConfig } from '../config/config.ts';
import type { Config, LoadedConfig } from '../config/load.ts';
import { stdoutTakesColour } from '../config/process-environment.ts';
import { repartitionOf } from '../config/rekeyed-input.ts';
import { topicsInUse } from '../engine/topics/changelog-name.ts';
import { ensureRepartition } from '../engine/topics/repartition-topics.ts';
import { checkTopics, ensureTopics } from '../engine/topics/topic-admin.ts';
import { detectorsOfStream } from '../engine/unit/loaded-detector.ts';
import { readTail, type TopicRecord, tailTopic } from '../kafka/fetch/topic-tail.ts';
import { openBulkProducer } from '../kafka/produce/bulk-producer.ts';
import { ServiceError } from '../ops/service-error.ts';
import type { CommandIo } from '../tools/terminal/command-io.ts';
import { formatTime, SCORE_LINE_STYLE } from '../tools/terminal/score-line.ts';
import {
  demoRecords,
  type FeedPlan,
  historySize,
  newestSteps,
  planFeed,
  TAIL_RECORDS,
  writeSteps,
} from './demo-feed.ts';
import { STEPS_PER_DAY, stepAt, timeOf } from './demo-plan.ts';
import { DemoView, type SeenLetter } from './demo-view.ts';

/** For missing topics. The demo continues after its newest observation, so the broker must keep that one for long. */
const CREATION = { partitions: 4, replicationFactor: 1, retentionMs: 365 * 86_400_000 };

export type DemoConfig = Config & { readonly kafka: KafkaConfig };

interface FedDemo extends Pick<LoadedConfig, 'stream'> {
  readonly kafka: KafkaConfig;
}

/** Creates missing topics, and finds the step at which the demo continues. Throws a ServiceError. */
export async function prepareDemo({ stream, kafka }: FedDemo): Promise<FeedPlan> {
  const connection = { config: kafka };
  const topics = await topicsInUse(connection, stream);
  const repartition = repartitionOf(stream);
  if (repartition !== null) await ensureRepartition(connection, repartition, { ...CREATION, scores: topics.scores });
  await ensureTopics(connection, topics, CREATION);
  const partitions = Array.from({ length: await checkTopics(connection, topics) }, (_, partition) => partition);
  const tails = await Promise.all(
    partitions.map((partition) =>
      readTail(connection, { topic: topics.observations, partition, recordsMax: TAIL_RECORDS }),
    ),
  );
  return planFeed(newestSteps(tails.flat().map(({ value }) => value)), Date.now());
}

/** Feeds the demo until it is stopped. `failed` resolves when that failed for good. Throws a ServiceError. */
export async function feedDemo({ config, plan }: { readonly config: FedDemo; readonly plan: FeedPlan }) {
  const producer = await openBulkProducer({ config: config.kafka }, config.stream.topics.observations);
  const { promise: failed, resolve: fail } = Promise.withResolvers<Error>();
  const ending = new AbortController();
  const { signal } = ending;
  const wait = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined);
  const feeding = writeSteps(plan, { send: producer.send, nowMs: Date.now, wait, signal }).catch(fail);
  return {
    failed,
    async stop() {
      ending.abort();
      await feeding;
      await producer.close();
    },
  };
}

interface ShownDemo {
  readonly config: DemoConfig;
  readonly plan: FeedPlan;
  /** Demo series that a detector scores. */
  readonly covered: ReadonlySet<string>;
}

/** Prints the scores that are written from now on. Throws a ServiceError. */
export async function showDemo(
  { config, plan, covered }: ShownDemo,
  io: CommandIo,
): Promise<{ stop(): Promise<void> }> {
  const connection = { config: config.kafka };
  const { stream, registry: registryConfig } = config;
  const { newest, liveStart } = plan;
  const registry = registryConfig === null ? null : await connectRegistry(registryConfig);
  const decode = createScoreDecoder(stream.output.format, registry);
  const decodeEvent = createEventDecoder(stream.output.format, registry);
  const style = { ...SCORE_LINE_STYLE, colour: stdoutTakesColour() };
  const historyScores = newest.size === 0 ? historySize(plan, covered) : 0;
  const view = new DemoView({ covered, liveStart, historyScores, style });
  if (view.live) for (const line of [`Continuing at ${formatTime(timeOf(liveStart))}.`, ...view.header]) io.out(line);
  const show = async (values: readonly Buffer[]) => {
    const scores = await Promise.all(values.map((value) => decode(value)));
    for (const line of view.scoreLines(scores, Date.now())) io.out(line);
  };
  const showEvents = async (values: readonly Buffer[]) => {
    const made = await Promise.all(values.map((value) => decodeEvent(value)));
    for (const line of view.eventLines(made)) io.out(line);
  };
  const showLetters = async (values: readonly Buffer[]) => {
    const letters: SeenLetter[] = values.map((value) => JSON.parse(value.toString()));
    for (const line of view.letterLines(letters)) io.out(line);
  };
  let showing = Promise.resolve();
  // A record that is another one was written by another program.
  const inTurn = (shown: (values: readonly Buffer[]) => Promise<void>) => (records: readonly TopicRecord[]) => {
    const values = records.flatMap(({ value }) => (value === null ? [] : [value]));
    showing = showing.then(() => shown(values)).catch(() => undefined);
  };
  const onConnection = (error: Error | null) => {
    if (!io.stop.aborted) io.err(error === null ? 'Kafka is available again.' : `${error.message}. Trying again ...`);
  };
  const from = 'latest';
  const { topics } = stream;
  const onRecords = [
    [topics.scores, show],
    [topics.events, showEvents],
    [topics.deadLetters, showLetters],
  ] as const;
  const tails = await Promise.all(
    onRecords.map(([topic, shown], i) => {
      const handlers = { onRecords: inTurn(shown), onConnection: i === 0 ? onConnection : () => {} };
      return tailTopic(connection, { topic, from }, handlers);
    }),
  );
  return {
    async stop() {
      await Promise.all(tails.map((tail) => tail.stop()));
      await showing;
      await registry?.close();
    },
  };
}

/**
 * The demo series that these detectors score. Throws ServiceError `configuration` when there are none: the detectors
 * file was written for other streams.
 */
export function coveredDemoSeries({ input, detectors }: StreamConfig, nowMs: number): ReadonlySet<string> {
  const covered = new Set<string>();
  if (input.format === 'json' && input.values === undefined) {
    const { detectorOf, groupSourceOf } = detectorsOfStream({ detectors, input });
    const decoder = createRecordDecoder(input, { groupSourceOf });
    const step = stepAt(nowMs);
    // Within one step a series, or all of them, may have stopped, as the demo plays it.
    for (const { key, value } of demoRecords(step + 1 - STEPS_PER_DAY, step + 1, new Map())) {
      const decoded = decoder.decode({ value }, nowMs);
      if (decoded.kind !== 'observation' || detectorOf(decoded.source ?? decoded.series) === null) continue;
      if (decoded.group === null || decoded.group === key.toString()) covered.add(decoded.series);
    }
  }
  if (covered.size > 0) return covered;
  const text =
    'start feeds series of its own, JSON records such as {"series": "web-1/cpu", "timestamp": 1767225600000, ' +
    '"value": 0.42}, and the ' +
    'detectors file takes none of them: leave DETECTORS away, or score your own streams with the command "worker"';
  throw new ServiceError('configuration', text);
}
