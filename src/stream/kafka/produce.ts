import { type Broker, produceResponse } from './kafkajs-internals.ts';

/** An encoded record batch on its way to a partition. */
export interface PartitionBatch {
  readonly topic: string;
  readonly partition: number;
  readonly batch: Buffer;
}

/** How long the leader may wait for its replicas. */
const acknowledgedMsMax = 15_000;

/** Sends at most one batch per partition to their leader; resolves when all in-sync replicas have them. Throws a partition's error. */
export async function produceBatches(
  broker: Broker,
  batches: readonly PartitionBatch[],
  transactionalId: string | null,
): Promise<void> {
  const body = encodeBody(batches, transactionalId);
  await broker.connectionPool.send({
    request: {
      apiKey: 0,
      apiVersion: 7,
      apiName: 'Produce',
      encode: () => Promise.resolve({ buf: body, buffer: body }),
    },
    response: produceResponse,
  });
}

/** Produce request, version 7: transactionalId string? | acks i16 | timeoutMs i32 | [topic string | [partition i32 | bytes]] */
function encodeBody(batches: readonly PartitionBatch[], transactionalId: string | null): Buffer {
  const byTopic = Map.groupBy(batches, ({ topic }) => topic);
  let size = 2 + Buffer.byteLength(transactionalId ?? '') + 10;
  for (const topic of byTopic.keys()) size += 6 + Buffer.byteLength(topic);
  for (const { batch } of batches) size += 8 + batch.length;
  const body = Buffer.allocUnsafe(size);
  let at = writeString(body, 0, transactionalId);
  // All in-sync replicas: a transaction accepts nothing less.
  at = body.writeInt16BE(-1, at);
  at = body.writeInt32BE(acknowledgedMsMax, at);
  at = body.writeInt32BE(byTopic.size, at);
  for (const [topic, partitions] of byTopic) {
    at = writeString(body, at, topic);
    at = body.writeInt32BE(partitions.length, at);
    for (const { partition, batch } of partitions) {
      at = body.writeInt32BE(partition, at);
      at = body.writeInt32BE(batch.length, at);
      at += batch.copy(body, at);
    }
  }
  return body;
}

function writeString(body: Buffer, at: number, text: string | null): number {
  if (text === null) return body.writeInt16BE(-1, at);
  const start = body.writeInt16BE(Buffer.byteLength(text), at);
  return start + body.write(text, start);
}
