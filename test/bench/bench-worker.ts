import { availableParallelism } from 'node:os';
import { createEventEncoder } from '../../src/codecs/event-codec.ts';
import { createScoreEncoder } from '../../src/codecs/score-encoder.ts';
import type { KafkaConfig, Topics } from '../../src/config/config.ts';
import type { WorkerLimits } from '../../src/config/options/options.ts';
import { workerLimits } from '../../src/config/options/options.ts';
import { createKafkaLog } from '../../src/engine/log/kafka-log.ts';

export interface BenchWorker {
  readonly kafka: KafkaConfig;
  readonly topics: Topics;
  readonly groupId: string;
  /** What differs from the defaults. */
  readonly limits?: Partial<WorkerLimits>;
}

/** What the workers of all benches have in common: scores and events as JSON, and the limits of users. */
export async function benchWorker({ kafka, topics, groupId, limits: own = {} }: BenchWorker) {
  const limits: WorkerLimits = { ...DEFAULTS, ...own };
  return {
    log: createKafkaLog({ config: kafka, topics, groupId, sessionMs: limits.sessionMs }),
    limits,
    encodeScore: await createScoreEncoder('json', { topic: topics.scores, registrar: null }),
    encodeEvent: await createEventEncoder('json', { topic: topics.events, registrar: null }),
    schemas: null,
    nowMs: Date.now,
  };
}

const DEFAULTS = Object.fromEntries(
  Object.entries(workerLimits).map(([name, limit]) => [
    name,
    'fallback' in limit ? limit.fallback : availableParallelism(),
  ]),
) as unknown as WorkerLimits;
