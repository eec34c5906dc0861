import { setTimeout as sleep } from 'node:timers/promises';
import type { KafkaConfig } from '../../../config/config.ts';
import { ensureSingleTopic } from '../../../engine/topics/topic-admin.ts';
import { readTopicEnds } from '../../../kafka/admin/consumer-group.ts';
import { type TopicRecord, tailTopic } from '../../../kafka/fetch/topic-tail.ts';
import { type BulkProducer, openBulkProducer } from '../../../kafka/produce/bulk-producer.ts';
import type { Logger } from '../../../ops/logger.ts';
import type { Deployment } from '../../../records/changes/deployment.ts';
import { Deployments } from '../../../records/changes/deployments.ts';
import { readChangeRecord } from '../../../records/changes/read-change.ts';
import { isMissingTopic, keepTail } from '../topic-reading.ts';

const BEGIN_MS_MAX = 5_000;

export interface FollowedChanges {
  readonly changes: Deployments;
  /** Resolves when the existing changes of the topic are read, or after the longest wait. */
  readonly begun: Promise<unknown>;
  stop(): Promise<void>;
}

interface ChangesToFollow {
  readonly kafka: KafkaConfig;
  readonly topic: string;
  readonly changes?: Deployments;
  readonly logger: Logger;
}

/**
 * Reads the topic of known changes, from its beginning and then as it grows. A topic that is missing has none; it is
 * looked for again. Nothing depends on changes, so that nothing waits for them.
 */
export function followChanges({ kafka, topic, changes = new Deployments(Date.now), logger }: ChangesToFollow) {
  const stopping = new AbortController();
  const { signal } = stopping;
  let logged: string | null = null;
  const report = (error: Error | null) => {
    const problem = error?.message ?? null;
    if (problem !== null && problem !== logged) logger.warn({ err: error }, 'known changes cannot be read');
    logged = problem;
  };
  const reached = Promise.withResolvers<void>();
  const open = async () => {
    const [end = null] = (await readTopicEnds({ config: kafka }, [topic])).get(topic) ?? [];
    if ((end?.endOffset ?? 0) === 0) reached.resolve();
    return tailTopic(
      { config: kafka },
      { topic, from: 'earliest' },
      {
        onRecords: (records, { positions }) => {
          for (const record of records) accept(changes, record, logger);
          if ((positions.get(0) ?? 0) >= (end?.endOffset ?? 0)) reached.resolve();
        },
        onConnection: report,
      },
    );
  };
  const ended = keepTail(open, {
    signal,
    report(error) {
      if (error !== null) reached.resolve();
      if (error === null || !isMissingTopic(error)) report(error);
    },
  });
  return {
    changes,
    begun: Promise.race([
      reached.promise,
      sleep(BEGIN_MS_MAX, undefined, { signal, ref: false }).catch(() => undefined),
    ]),
    stop: async () => {
      stopping.abort();
      await ended;
    },
  } satisfies FollowedChanges;
}

/** A record without a value takes the change of its key back. */
function accept(changes: Deployments, { key, value, timestampMs, partition, offset }: TopicRecord, logger: Logger) {
  if (key === null) return;
  if (value === null) return changes.remove(key.toString());
  const read = readChangeRecord(value, timestampMs);
  if (read.kind === 'change') return changes.put({ ...read.change, id: key.toString() }, timestampMs);
  const reason = read.problems.map(({ field, expected }) => `${field} must be ${expected}`).join('; ');
  logger.warn({ partition, offset, reason }, 'a record of the topic of known changes is no change');
}

interface ChangesTopic {
  readonly topic: string;
  /** A topic with as many copies as this one is to have. */
  readonly like: string;
}

/** Writes known changes; the first one opens the topic, which is made where it is missing. */
export class ChangeWriter {
  readonly #place: ChangesTopic;
  readonly #kafka: () => KafkaConfig;
  #producer: Promise<BulkProducer> | null = null;

  constructor(place: ChangesTopic, kafka: () => KafkaConfig) {
    this.#place = place;
    this.#kafka = kafka;
  }

  /** Resolves when all in-sync replicas have it. @param change null takes the one of the id back */
  async write(id: string, change: Deployment | null): Promise<void> {
    this.#producer ??= this.#open();
    const opening = this.#producer;
    try {
      const value = change === null ? null : Buffer.from(JSON.stringify(change));
      await (await opening).send([{ partition: 0, key: Buffer.from(id), value }]);
    } catch (error) {
      // The next one opens the topic again: it may have been deleted.
      if (this.#producer === opening) this.#producer = null;
      await opening.then((producer) => producer.close()).catch(() => undefined);
      throw error;
    }
  }

  async close(): Promise<void> {
    const producer = await this.#producer?.catch(() => null);
    await producer?.close();
  }

  async #open(): Promise<BulkProducer> {
    const connection = { config: this.#kafka() };
    await ensureSingleTopic(connection, 'changes', this.#place);
    return openBulkProducer(connection, this.#place.topic);
  }
}
