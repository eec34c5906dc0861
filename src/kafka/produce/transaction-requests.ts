import type { Broker } from '../cluster/cluster.ts';
import { errorFromCode } from '../cluster/kafkajs.ts';
import { byTopic, i8, i16, i32, i64, string, struct } from '../cluster/protocol-fields.ts';
import { sendRequest } from '../cluster/protocol-request.ts';

export interface ProducerIdentity {
  readonly transactionalId: string;
  readonly producerId: number;
  readonly producerEpoch: number;
}

export interface TopicPartitions {
  readonly topic: string;
  readonly partitions: readonly number[];
}

const THROTTLED = { clientSideThrottleTime: i32 };
const PRODUCER = { transactionalId: string, producerId: i64, producerEpoch: i16 };

const INIT_PRODUCER_ID = {
  name: 'InitProducerId',
  key: 22,
  version: 1,
  isCompact: false,
  request: { transactionalId: string, transactionMs: i32 },
  answer: { ...THROTTLED, errorCode: i16, producerId: i64, producerEpoch: i16 },
};

/** Fences the earlier producers with this id, and ends their transaction. */
export async function initProducer(
  coordinator: Broker,
  request: { readonly transactionalId: string; readonly transactionMs: number },
): Promise<ProducerIdentity> {
  const { errorCode, producerId, producerEpoch } = await sendRequest(coordinator, INIT_PRODUCER_ID, request);
  if (errorCode !== 0) throw errorFromCode(errorCode);
  return { transactionalId: request.transactionalId, producerId, producerEpoch };
}

const ADD_PARTITIONS_TO_TXN = {
  name: 'AddPartitionsToTxn',
  key: 24,
  version: 1,
  isCompact: false,
  request: { ...PRODUCER, topics: byTopic(i32) },
  answer: { ...THROTTLED, topics: byTopic(struct({ partition: i32, errorCode: i16 })) },
};

export async function addPartitions(
  coordinator: Broker,
  producer: ProducerIdentity,
  topics: readonly TopicPartitions[],
): Promise<void> {
  const answer = await sendRequest(coordinator, ADD_PARTITIONS_TO_TXN, { ...producer, topics });
  const failed = answer.topics.flatMap(({ partitions }) => partitions).find(({ errorCode }) => errorCode !== 0);
  if (failed !== undefined) throw errorFromCode(failed.errorCode);
}

const ADD_OFFSETS_TO_TXN = {
  name: 'AddOffsetsToTxn',
  key: 25,
  version: 1,
  isCompact: false,
  request: { ...PRODUCER, groupId: string },
  answer: { ...THROTTLED, errorCode: i16 },
};

export async function addOffsets(coordinator: Broker, producer: ProducerIdentity, groupId: string): Promise<void> {
  const { errorCode } = await sendRequest(coordinator, ADD_OFFSETS_TO_TXN, { ...producer, groupId });
  if (errorCode !== 0) throw errorFromCode(errorCode);
}

const END_TXN = {
  name: 'EndTxn',
  key: 26,
  version: 1,
  isCompact: false,
  request: { ...PRODUCER, commits: i8 },
  answer: { ...THROTTLED, errorCode: i16 },
};

export async function endTransaction(coordinator: Broker, producer: ProducerIdentity, commits: boolean): Promise<void> {
  const { errorCode } = await sendRequest(coordinator, END_TXN, { ...producer, commits: Number(commits) });
  if (errorCode !== 0) throw errorFromCode(errorCode);
}
