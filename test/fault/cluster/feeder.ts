import { setTimeout as sleep } from 'node:timers/promises';
import type { KafkaConnection } from '../../../src/kafka/cluster/connection.ts';
import { type BulkProducer, openBulkProducer, type ProducerRecord } from '../../../src/kafka/produce/bulk-producer.ts';
import { observationRecord } from '../../fixture/stream/stream-run.ts';

const TICK_MS = 100;
/** One record in so many cannot be read. */
const POISON_EVERY = 997;

export interface Feeder {
  pause(): Promise<void>;
  resume(): void;
  stop(): Promise<void>;
}

export interface FeedOptions {
  readonly topic: string;
  readonly partitions: number;
  readonly series: number;
  readonly perSecond: number;
}

/**
 * Feeds series step after step, each in its partition, as a live source does. What a broker may or may not have is
 * sent again: the input then has duplicates, and late records.
 */
export function startFeeder(connection: KafkaConnection, options: FeedOptions): Feeder {
  const { topic, perSecond } = options;
  let fed = 0;
  let paused = false;
  let stopped = false;
  let producer: BulkProducer | null = null;
  const send = async (records: readonly ProducerRecord[]) => {
    while (!stopped) {
      try {
        producer ??= await openBulkProducer(connection, topic);
        await producer.send(records);
        return;
      } catch {
        await producer?.close();
        producer = null;
        await sleep(TICK_MS);
      }
    }
  };
  let idle = Promise.resolve();
  const feed = async () => {
    let nextMs = performance.now();
    while (!stopped) {
      nextMs = Math.max(nextMs + TICK_MS, performance.now() - 1_000);
      await sleep(Math.max(0, nextMs - performance.now()));
      if (paused) continue;
      const count = Math.round((perSecond * TICK_MS) / 1000);
      const records = Array.from({ length: count }, (_, i) => recordAt(fed + i, options));
      fed += count;
      idle = send(records);
      await idle;
    }
  };
  const feeding = feed();
  return {
    async pause() {
      paused = true;
      await idle;
    },
    resume() {
      paused = false;
    },
    async stop() {
      stopped = true;
      await feeding;
      await producer?.close();
    },
  };
}

function recordAt(at: number, { series, partitions }: FeedOptions): ProducerRecord {
  const which = at % series;
  const step = Math.floor(at / series);
  const partition = which % partitions;
  if (at % POISON_EVERY === POISON_EVERY - 1) return { partition, key: null, value: Buffer.from('{"series":') };
  const value = Math.sin(step / (3 + (which % 17))) * 10 + ((step * 7_919 + which * 104_729) % 101) / 25;
  return { partition, ...observationRecord(`series-${which}`, step, value) };
}
