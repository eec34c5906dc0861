import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import kafkajs from 'kafkajs';
import type { Topics } from '../../../src/config/config.ts';
import { ensureTopics } from '../../../src/engine/topics/topic-admin.ts';
import { asAdmin } from '../../../src/kafka/admin/admin-client.ts';
import type { KafkaConnection } from '../../../src/kafka/cluster/connection.ts';
import type { ProducerRecord } from '../../../src/kafka/produce/bulk-producer.ts';
import { valueAt } from '../synthetic-series.ts';

/** The installation that all parts of the bench have in common. */

/** Fewer than SERIES_MAX of a partition, with a million series. */
export const PARTITIONS = 16;
export const STEP_MS = 60_000;
export const GROUP = 'million';
/** Distinct courses of values; series with the same number modulo this have the same values. */
export const COURSES = 8;
/** More than a context, and than the calibration of the default detector. */
export const SEEDED_STEPS = 24 * 24;
const ID_BYTES = 120;
const SERIES_OF_CLUSTER = 10_000;
const TOPIC_BYTES_MAX = { observations: 4e9, scores: 8e9 };

export const TOPICS: Topics = {
  observations: 'observations',
  scores: 'anomaly-scores',
  events: 'anomaly-events',
  changelog: `${GROUP}-changelog`,
  deadLetters: 'dead-letters',
};

export const detectorsOf = (
  spread: FleetState['spread'],
) => `topics: { observations: ${TOPICS.observations}, scores: ${TOPICS.scores}, events: ${TOPICS.events}, changelog: ${TOPICS.changelog}, dead_letters: ${TOPICS.deadLetters} }
output: { compression: zstd }
detectors: [{ name: fleet, series: "*", freq: min, h: 24, detection_size: 24, context: 512, spread: ${spread === 'on'} }]
`;

/** An id of 120 bytes; its number is in the last digits. */
export function idOf(series: number): string {
  const digits = (value: number, length: number) => String(value).padStart(length, '0');
  const cluster = digits(Math.floor(series / SERIES_OF_CLUSTER), 4);
  const host = digits(Math.floor(series / 100), 6);
  const end = `",unit="${digits(series, 8)}"}`;
  const begin = `request_duration_seconds{cluster="${cluster}",host="host-${host}",namespace="`;
  // As a decoder makes it of bytes: a string of several parts would take more memory.
  return Buffer.from(begin + 'shop'.padEnd(ID_BYTES - begin.length - end.length, '-production') + end).toString(
    'latin1',
  );
}

export function seriesOf(key: Buffer): number {
  return Number(key.toString('latin1', key.length - 10, key.length - 2));
}

export function partitionOf(series: number): number {
  return series % PARTITIONS;
}

/** Series below `movedBelow` are 40 above their usual values. */
export function fleetValue(series: number, step: number, movedBelow = 0): number {
  return Number((valueAt(series % COURSES, step) + (series < movedBelow ? 40 : 0)).toFixed(4));
}

export interface FleetState {
  readonly series: number;
  /** Event time of step 0. */
  readonly startMs: number;
  /** As the detector has it. */
  readonly spread: 'on' | 'off';
  /** The first step that was not fed so far. */
  readonly nextStep: number;
}

export function observationOf(
  series: number,
  step: number,
  { startMs, movedBelow }: { readonly startMs: number; readonly movedBelow: number },
): ProducerRecord {
  const id = idOf(series);
  const observation = { series: id, timestamp: startMs + step * STEP_MS, value: fleetValue(series, step, movedBelow) };
  return { partition: partitionOf(series), key: Buffer.from(id), value: Buffer.from(JSON.stringify(observation)) };
}

/** Topics as `topics` makes them. The input and the scores are deleted by size: the disk of the machine is small. */
export async function makeTopics(connection: KafkaConnection): Promise<void> {
  await ensureTopics(connection, TOPICS, { partitions: PARTITIONS, replicationFactor: 1, retentionMs: null });
  const resources = (['observations', 'scores'] as const).map((topic) => {
    const bytes = { 'retention.bytes': TOPIC_BYTES_MAX[topic] / PARTITIONS, 'segment.bytes': 64 * 1024 * 1024 };
    const configEntries = Object.entries(bytes).map(([name, value]) => ({ name, value: String(value) }));
    return { type: kafkajs.ConfigResourceTypes.TOPIC, name: TOPICS[topic], configEntries };
  });
  await asAdmin(connection, 'topics were configured', (admin) =>
    admin.alterConfigs({ validateOnly: false, resources }),
  );
}

/** The detectors file of all processes. */
export async function writeDetectors(folder: string, spread: FleetState['spread']): Promise<string> {
  const file = join(folder, 'detectors.yaml');
  await writeFile(file, detectorsOf(spread));
  return file;
}
