/** A bare kafkajs that consumes and produces the same records, in a process of its own. */
import kafkajs, { type Message } from 'kafkajs';
import { childOptions, report, stopAsked } from '../child.ts';
import { throughputMeter } from './throughput.ts';

export interface PassthroughOptions {
  readonly brokers: readonly string[];
  readonly from: string;
  readonly to: string;
  readonly groupId: string;
  readonly recordsPerSend: number;
  readonly observations: number;
}

const { brokers, from, to, groupId, recordsPerSend, observations } = childOptions<PassthroughOptions>();
const stopping = stopAsked();
const kafka = new kafkajs.Kafka({ brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING });
const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
const consumer = kafka.consumer({ groupId });
const meter = throughputMeter(observations, () => 0, report);
await producer.connect();
await consumer.connect();
await consumer.subscribe({ topics: [from], fromBeginning: true });
await consumer.run({
  partitionsConsumedConcurrently: 8,
  async eachBatch({ batch: { partition, messages } }) {
    for (let at = 0; at < messages.length; at += recordsPerSend) {
      const sent: Message[] = messages
        .slice(at, at + recordsPerSend)
        .map(({ key, value }) => ({ key, value, partition }));
      await producer.sendBatch({ topicMessages: [{ topic: to, messages: sent }] });
      meter(sent.length);
    }
  },
});
await stopping;
await consumer.disconnect();
await producer.disconnect();
process.disconnect();
