import { CompactReader, compactString, NO_TAGS, ONE } from '../cluster/compact-encoding.ts';
import { type Broker, errorFromCode, type ProducerIdentity } from '../cluster/kafkajs-internals.ts';

/** A partition as a consumer group sees it. */
export interface GroupPartition {
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
}

export interface CommittedOffset {
  readonly offset: number;
  /** The leader epoch of the record before it; -1 where it was committed without. */
  readonly leaderEpoch: number;
}

/**
 * The committed offset of a group for a partition, or null. Rejects with UNSTABLE_OFFSET_COMMIT while an open
 * transaction moves it; kafkajs's own request is older and returns the offset before that transaction. Needs Kafka 2.5
 * or later.
 */
export async function fetchCommittedOffset(
  coordinator: Broker,
  { groupId, topic, partition }: GroupPartition,
): Promise<CommittedOffset | null> {
  const body = encodeBody(groupId, topic, partition);
  const { found } = await coordinator.connectionPool.send<FetchedOffset>({
    request: {
      apiKey: 9,
      apiVersion: 7,
      apiName: 'OffsetFetch',
      encode: () => Promise.resolve({ buf: body, buffer: body }),
    },
    response: { decode: async (payload) => decodeResponse(payload), parse: async (committed) => committed },
  });
  return found;
}

interface FetchedOffset {
  readonly found: CommittedOffset | null;
  /** kafkajs delays requests by this field when the broker throttles. */
  readonly clientSideThrottleTime: number;
}

/**
 * OffsetFetch request, version 7: header tags | groupId | [topic | [partition i32] | tags] | stable u8 | tags
 */
function encodeBody(groupId: string, topic: string, partition: number): Buffer {
  const number = Buffer.alloc(4);
  number.writeInt32BE(partition);
  const stable = Buffer.from([1]);
  return Buffer.concat([
    NO_TAGS,
    compactString(groupId),
    ONE,
    compactString(topic),
    ONE,
    number,
    NO_TAGS,
    stable,
    NO_TAGS,
  ]);
}

/**
 * throttleMs i32 | [topic | [partition i32 | offset i64 | leaderEpoch i32 | metadata | errorCode i16 | tags] | tags] |
 * errorCode i16 | tags
 */
function decodeResponse(payload: Buffer): FetchedOffset {
  const reader = new CompactReader(payload);
  const clientSideThrottleTime = reader.i32();
  let found: CommittedOffset | null = null;
  let code = 0;
  reader.array(() => {
    reader.text();
    reader.array(() => {
      reader.i32();
      const offset = reader.i64();
      const leaderEpoch = reader.i32();
      reader.text();
      code ||= reader.i16();
      if (offset >= 0) found = { offset, leaderEpoch };
    });
  });
  code ||= reader.i16();
  if (code !== 0) throw errorFromCode(code);
  return { found, clientSideThrottleTime };
}

/** The input offset that a transaction commits for a consumer group. */
export interface MovedOffset extends GroupPartition, CommittedOffset {}

/** Commits an offset in a transaction of the producer. kafkajs's own request is older, and has no leader epoch. */
export async function commitInTransaction(
  coordinator: Broker,
  producer: ProducerIdentity,
  moved: MovedOffset,
): Promise<void> {
  const body = encodeCommit(producer, moved);
  await coordinator.connectionPool.send<{ readonly clientSideThrottleTime: number }>({
    request: {
      apiKey: 28,
      apiVersion: 3,
      apiName: 'TxnOffsetCommit',
      encode: () => Promise.resolve({ buf: body, buffer: body }),
    },
    response: { decode: async (payload) => decodeCommitted(payload), parse: async (committed) => committed },
  });
}

/** Kafka 2.5: without generation and member, as before. Each partition is fenced by its producer. */
const NO_GENERATION = -1;
const NULL_TEXT = Buffer.from([0]);

/**
 * TxnOffsetCommit request, version 3: header tags | transactionalId | groupId | producerId i64 | producerEpoch i16 |
 * generation i32 | memberId | groupInstanceId? | [topic | [partition i32 | offset i64 | leaderEpoch i32 | metadata? |
 * tags] | tags] | tags
 */
function encodeCommit(
  { transactionalId, producerId, producerEpoch }: ProducerIdentity,
  { groupId, topic, partition, offset, leaderEpoch }: MovedOffset,
): Buffer {
  const identity = Buffer.alloc(14);
  identity.writeBigInt64BE(BigInt(producerId));
  identity.writeInt16BE(producerEpoch, 8);
  identity.writeInt32BE(NO_GENERATION, 10);
  const place = Buffer.alloc(16);
  place.writeInt32BE(partition);
  place.writeBigInt64BE(BigInt(offset), 4);
  place.writeInt32BE(leaderEpoch, 12);
  return Buffer.concat([
    NO_TAGS,
    compactString(transactionalId),
    compactString(groupId),
    identity,
    compactString(''),
    NULL_TEXT,
    ONE,
    compactString(topic),
    ONE,
    place,
    NULL_TEXT,
    NO_TAGS,
    NO_TAGS,
    NO_TAGS,
  ]);
}

/** throttleMs i32 | [topic | [partition i32 | errorCode i16 | tags] | tags] | tags */
function decodeCommitted(payload: Buffer): { readonly clientSideThrottleTime: number } {
  const reader = new CompactReader(payload);
  const clientSideThrottleTime = reader.i32();
  let code = 0;
  reader.array(() => {
    reader.text();
    reader.array(() => {
      reader.i32();
      code ||= reader.i16();
    });
  });
  if (code !== 0) throw errorFromCode(code);
  return { clientSideThrottleTime };
}
