import type { KafkaConfig } from '../../../config/config.ts';
import { ensureSingleTopic } from '../../../engine/topics/topic-admin.ts';
import { type BulkProducer, openBulkProducer } from '../../../kafka/produce/bulk-producer.ts';
import type { Deployment } from '../../../records/deployment.ts';

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
