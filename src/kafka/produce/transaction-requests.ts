import { errorFromCode } from '../cluster/kafkajs.ts';
import { byTopic, i8, i16, i32, i64, since, string, struct } from '../protocol/protocol-fields.ts';
import { type Broker, sendRequest } from '../protocol/protocol-request.ts';

export interface ProducerIdentity {
  readonly transactionalId: string;
  readonly producerId: number;
  readonly producerEpoch: number;
}

/**
 * How a transaction is done (KIP-890). In the first version the producer adds each partition, and the group of an
 * offset, to its transaction before it writes there. In the second, brokers do that as they write, and each transaction
 * has an epoch of its own: whatever of it comes late is refused.
 */
export type TransactionProtocol = 'v1' | 'v2';

export interface TopicPartitions {
  readonly topic: string;
  readonly partitions: readonly number[];
}

const THROTTLED = { clientSideThrottleTime: i32 };
const PRODUCER = { transactionalId: string, producerId: i64, producerEpoch: i16 };

const NONE = -1;
/** Whatever the producer before was. */
const ANY_PRODUCER = { expectedProducerId: NONE, expectedEpoch: NONE };

const INIT_PRODUCER_ID = {
  name: 'InitProducerId',
  key: 22,
  versions: [1, 5],
  compactSince: 2,
  request: {
    transactionalId: string,
    transactionMs: i32,
    expectedProducerId: since(3, i64, NONE),
    expectedEpoch: since(3, i16, NONE),
  },
  answer: { ...THROTTLED, errorCode: i16, producerId: i64, producerEpoch: i16 },
};

/** Fences the earlier producers with this id, and ends their transaction. */
export async function initProducer(
  coordinator: Broker,
  request: { readonly transactionalId: string; readonly transactionMs: number },
): Promise<ProducerIdentity> {
  const values = { ...request, ...ANY_PRODUCER };
  const { errorCode, producerId, producerEpoch } = await sendRequest(coordinator, INIT_PRODUCER_ID, values);
  const { transactionalId } = request;
  if (errorCode !== 0) throw errorFromCode(errorCode, 'Write', 'transactional-id', transactionalId);
  return { transactionalId, producerId, producerEpoch };
}

/** The broker gives it to authorized partitions when others are not. */
const OPERATION_NOT_ATTEMPTED = 55;

const ADD_PARTITIONS_TO_TXN = {
  name: 'AddPartitionsToTxn',
  key: 24,
  versions: [1, 3],
  compactSince: 3,
  request: { ...PRODUCER, topics: byTopic(i32) },
  answer: { ...THROTTLED, topics: byTopic(struct({ partition: i32, errorCode: i16 })) },
};

export async function addPartitions(
  coordinator: Broker,
  producer: ProducerIdentity,
  topics: readonly TopicPartitions[],
): Promise<void> {
  const answer = await sendRequest(coordinator, ADD_PARTITIONS_TO_TXN, { ...producer, topics });
  for (const { topic, partitions } of answer.topics) {
    const failed = partitions.find(({ errorCode }) => errorCode !== 0 && errorCode !== OPERATION_NOT_ATTEMPTED);
    if (failed !== undefined) throw errorFromCode(failed.errorCode, 'Write', 'topic', topic ?? '');
  }
}

const ADD_OFFSETS_TO_TXN = {
  name: 'AddOffsetsToTxn',
  key: 25,
  versions: [1, 4],
  compactSince: 3,
  request: { ...PRODUCER, groupId: string },
  answer: { ...THROTTLED, errorCode: i16 },
};

export async function addOffsets(coordinator: Broker, producer: ProducerIdentity, groupId: string): Promise<void> {
  const { errorCode } = await sendRequest(coordinator, ADD_OFFSETS_TO_TXN, { ...producer, groupId });
  if (errorCode !== 0) throw errorFromCode(errorCode, 'Read', 'group', groupId);
}

const END_TXN_FIELDS = {
  compactSince: 3,
  request: { ...PRODUCER, commits: i8 },
  answer: { ...THROTTLED, errorCode: i16, producerId: since(5, i64, NONE), producerEpoch: since(5, i16, NONE) },
};
const END_TXN = {
  v1: { name: 'EndTxn', key: 26, versions: [1, 4], ...END_TXN_FIELDS },
  v2: { name: 'EndTxn', key: 26, versions: [5], ...END_TXN_FIELDS },
};

/** Returns the producer of the next transaction. Its epoch has risen in the second protocol, and its id may be new. */
export async function endTransaction(
  coordinator: Broker,
  producer: ProducerIdentity,
  { commits, protocol }: { readonly commits: boolean; readonly protocol: TransactionProtocol },
): Promise<ProducerIdentity> {
  const answer = await sendRequest(coordinator, END_TXN[protocol], { ...producer, commits: Number(commits) });
  const { errorCode, producerId, producerEpoch } = answer;
  if (errorCode !== 0) throw errorFromCode(errorCode);
  return producerId === NONE ? producer : { ...producer, producerId, producerEpoch };
}
