import { setTimeout as sleep } from 'node:timers/promises';
import type { KafkaConfig } from '../../../config/config.ts';
import { readTopicEnds } from '../../../kafka/admin/consumer-group.ts';
import { type TopicRecord, tailTopic } from '../../../kafka/fetch/topic-tail.ts';
import type { Logger } from '../../../ops/logger.ts';
import { ServiceError } from '../../../ops/service-error.ts';
import { Deployments } from '../../../records/changes/deployments.ts';
import { readChangeRecord } from '../../../records/changes/read-change.ts';

const RETRY_MS = 2_000;
const BEGIN_MS_MAX = 5_000;

export interface FollowedChanges {
  readonly changes: Deployments;
  /** Those that the topic had at the beginning are known, or it has been waited for as long as that is worth. */
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
  const follow = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        const [end = null] = (await readTopicEnds({ config: kafka }, [topic])).get(topic) ?? [];
        if ((end?.endOffset ?? 0) === 0) reached.resolve();
        const tail = await tailTopic(
          { config: kafka },
          { topic, from: 'earliest' },
          {
            onRecords: (records, { positions }) => {
              for (const record of records) take(changes, record, logger);
              if ((positions.get(0) ?? 0) >= (end?.endOffset ?? 0)) reached.resolve();
            },
            onConnection: report,
          },
        );
        report(null);
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
        await tail.stop();
      } catch (error) {
        const isMissing = error instanceof ServiceError && error.code === 'topic-mismatch';
        if (!isMissing) report(error as Error);
        reached.resolve();
        await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  };
  const ended = follow();
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
function take(changes: Deployments, { key, value, timestampMs, partition, offset }: TopicRecord, logger: Logger) {
  if (key === null) return;
  if (value === null) return changes.remove(key.toString());
  const read = readChangeRecord(value, timestampMs);
  if (read.kind === 'change') return changes.put({ ...read.change, id: key.toString() }, timestampMs);
  const reason = read.problems.map(({ field, expected }) => `${field} must be ${expected}`).join('; ');
  logger.warn({ partition, offset, reason }, 'a record of the topic of known changes is no change');
}
