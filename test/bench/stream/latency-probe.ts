/**
 * Feeds observations at a steady rate and waits for their scores: the time from sending to reading, in a process of its
 * own.
 */
import type { KafkaConfig, Topics } from '../../../src/config/config.ts';
import { tailTopic } from '../../../src/kafka/fetch/topic-tail.ts';
import { openBulkProducer, type ProducerRecord } from '../../../src/kafka/produce/bulk-producer.ts';
import { childOptions, report, stopAsked } from '../child.ts';
import { observationRecord, seriesOfId, stepOfTime } from '../synthetic-series.ts';

export interface LatencyOptions {
  readonly kafka: KafkaConfig;
  readonly topics: Topics;
  readonly seriesCount: number;
  readonly firstStep: number;
  readonly perSecond: number;
  readonly warmUpSeconds: number;
  readonly seconds: number;
}

export interface Latencies {
  readonly observations: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

const { kafka, topics, seriesCount, firstStep, perSecond, warmUpSeconds, seconds } = childOptions<LatencyOptions>();
const TICK_MS = 10;
const SCORES_MS_MAX = 10_000;
const connection = { config: kafka };
const stopping = stopAsked();
const warmUp = warmUpSeconds * perSecond;
const total = warmUp + seconds * perSecond;
const sentMs = new Float64Array(total);
const latencies: number[] = [];
const { promise: complete, resolve } = Promise.withResolvers<void>();

const tail = await tailTopic(
  connection,
  { topic: topics.scores, from: 'latest' },
  {
    onRecords(records) {
      const nowMs = performance.now();
      for (const { value } of records) {
        const { series, timestampMs } = JSON.parse(value!.toString());
        const sequence = (stepOfTime(timestampMs) - firstStep) * seriesCount + seriesOfId(series);
        if (sequence >= warmUp) latencies.push(nowMs - sentMs[sequence]);
      }
      if (latencies.length === total - warmUp) resolve();
    },
  },
);
const producer = await openBulkProducer(connection, topics.observations);
const startMs = performance.now();
for (let sent = 0; sent < total; ) {
  const nowMs = performance.now();
  const due = Math.min(total, Math.floor(((nowMs - startMs) * perSecond) / 1_000));
  const records: ProducerRecord[] = [];
  for (; sent < due; sent++) {
    // The time it was due: a send that waits for the one before it is latency too.
    sentMs[sent] = startMs + (sent * 1_000) / perSecond;
    records.push(observationRecord(sent % seriesCount, firstStep + Math.floor(sent / seriesCount)));
  }
  if (records.length > 0) await producer.send(records);
  await new Promise((tick) => setTimeout(tick, TICK_MS));
}
await Promise.race([complete, new Promise((tick) => setTimeout(tick, SCORES_MS_MAX))]);
latencies.sort((a, b) => a - b);
const at = (share: number) => latencies[Math.floor(share * latencies.length)] ?? Number.NaN;
report({ observations: latencies.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: latencies.at(-1) ?? Number.NaN });
await stopping;
await producer.close();
await tail.stop();
process.disconnect();
