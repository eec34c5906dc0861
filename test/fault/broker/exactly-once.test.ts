import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ISocketFactory } from 'kafkajs';
import { createKafkaLog } from '../../../src/engine/log/kafka-log.ts';
import type { InputRecord, PartitionSession, StreamLog, Subscription } from '../../../src/engine/log/log.ts';
import { produceRecords } from '../../../src/kafka/produce/bulk-producer.ts';
import { ServiceError } from '../../../src/ops/service-error.ts';
import { inFirstProtocol } from '../../fixture/kafka/altered-responses.ts';
import { committedRecords, freshTopics, kafkaConnection, kafkaTest, ownKafka } from '../../fixture/kafka/kafka.ts';
import { unreliableSockets } from '../../fixture/kafka/unreliable-sockets.ts';

const broker = ownKafka();

const partitions = 4;
const recordsPerPartition = 12_000;

/**
 * Requests whose connection is lost now and then: InitProducerId, AddPartitions, Produce, AddOffsets, TxnOffsetCommit,
 * EndTxn, Fetch, Heartbeat.
 */
const targets = new Set([22, 24, 0, 25, 28, 26, 1, 12]);

/** Loses a connection at every `period`th request, by turns instead of sending it, or in place of its answer. */
function losingSockets(period: number): { readonly factory: ISocketFactory; readonly losses: () => number } {
  let requests = 0;
  let losses = 0;
  const factory = unreliableSockets((apiKey) => {
    if (!targets.has(apiKey) || ++requests % period !== 0) return 'sent';
    return ++losses % 2 === 0 ? 'lost' : 'answer-lost';
  });
  return { factory, losses: () => losses };
}

/**
 * Copies input to scores and counts in the changelog; after any failure it starts over from what is committed, if still
 * assigned.
 */
async function runCopier(log: StreamLog, scores: string, changelog: string): Promise<() => Promise<void>> {
  let generation = 0;
  const queues = new Map<number, InputRecord[]>();
  let subscription: Subscription | null = null;
  const own = async (partition: number, mine: number) => {
    while (mine === generation) {
      let session: PartitionSession | null = null;
      try {
        session = await log.openPartition(partition);
        let count = 0;
        await session.readChangelog((_key, value) => {
          count = Number(value);
        });
        assert.equal(count, session.committedOffset ?? 0, 'state and offset are of the same commit');
        const queue: InputRecord[] = [];
        queues.set(partition, queue);
        subscription?.start(partition, session.committedOffset ?? 0);
        while (mine === generation) {
          const taken = queue.splice(0, 1 + Math.floor(count % 97));
          if (taken.length === 0) await sleep(2);
          else {
            count += taken.length;
            await session.commit(
              [
                ...taken.map(({ key, value }) => ({ topic: scores, partition, key, value })),
                { topic: changelog, partition, key: Buffer.from('count'), value: Buffer.from(String(count)) },
              ],
              taken.at(-1)!.offset + 1,
            );
          }
        }
      } catch (error) {
        // Only failures of Kafka are retried. An AssertionError has a code as well.
        if (!(error instanceof ServiceError)) throw error;
      } finally {
        await session?.close();
      }
    }
  };
  const owners = new Set<Promise<void>>();
  subscription = await log.subscribe({
    onAssignment: (assigned) => {
      generation++;
      queues.clear();
      for (const partition of assigned) owners.add(own(partition, generation));
    },
    onRecords: (partition, records) => queues.get(partition)?.push(...records),
    onConnection: () => undefined,
    onStalled: () => undefined,
    onFatal: (error) => assert.fail(error),
  });
  return async () => {
    generation++;
    await log.close();
    await Promise.all(owners);
  };
}

kafkaTest('through lost connections, rebalances and crashes each record is copied once and in order', async (t) => {
  const connection = await kafkaConnection();
  const topics = await freshTopics(partitions);
  const options = { topics, groupId: `copy-${topics.observations}`, sessionMs: 3_000 };
  const sockets = [losingSockets(97), losingSockets(61)];
  // One copier does transactions in the first protocol, the other in the second: partitions move between them.
  const factories = [inFirstProtocol(sockets[0].factory), sockets[1].factory];
  const wanted = Array.from({ length: recordsPerPartition }, (_, at) => at);
  const total = partitions * recordsPerPartition;
  let committed = 0;
  const onCommit = ({ records }: { records: number }) => {
    committed += records - 1;
  };
  for (let partition = 0; partition < partitions; partition++) {
    const input = wanted.map((value) => ({ partition, key: null, value: Buffer.from(String(value)) }));
    await produceRecords(connection, topics.observations, input);
  }
  const start = (at: number) =>
    runCopier(
      createKafkaLog({ ...connection, ...options, socketFactory: factories[at], onCommit }),
      topics.scores,
      topics.changelog,
    );
  const stops = [await start(0), await start(1)];
  // Also after a failure: what is left open would keep the process alive.
  t.after(() => Promise.allSettled(stops.map((stop) => stop())));
  const progress = async (share: number) => {
    while (committed < share * total) await sleep(5);
  };
  await progress(0.2);
  await stops[1]();
  await progress(0.4);
  stops[1] = await start(1);
  await progress(0.6);
  const kafka = await broker();
  await kafka.kill();
  await kafka.restart();

  const copied = async () => {
    const all = Array.from({ length: partitions }, (_, partition) => committedRecords(topics.scores, partition));
    return (await Promise.all(all)).map((records) => records.map(({ value }) => Number(value)));
  };
  const count = async () => (await copied()).flat().length;
  for (let seen = -1; seen < total; seen = await count().catch(() => 0)) await sleep(500);
  await Promise.all(stops.map((stop) => stop()));
  assert.ok(sockets.every(({ losses }) => losses() > 5));
  for (const values of await copied()) assert.deepEqual(values, wanted);
});
