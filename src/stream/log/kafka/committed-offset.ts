import { CompactReader, compactString, NO_TAGS, ONE } from './compact-encoding.ts';
import { type Broker, errorFromCode } from './kafkajs-internals.ts';

/** A partition as a consumer group sees it. */
export interface GroupPartition {
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
}

/**
 * The committed offset of a group for a partition, or null. Rejects with UNSTABLE_OFFSET_COMMIT while an open
 * transaction moves it; kafkajs's own request is older and returns the offset before that transaction. Needs Kafka 2.5
 * or later.
 */
export async function fetchCommittedOffset(
  coordinator: Broker,
  { groupId, topic, partition }: GroupPartition,
): Promise<number | null> {
  const body = encodeBody(groupId, topic, partition);
  const { offset } = await coordinator.connectionPool.send<CommittedOffset>({
    request: {
      apiKey: 9,
      apiVersion: 7,
      apiName: 'OffsetFetch',
      encode: () => Promise.resolve({ buf: body, buffer: body }),
    },
    response: { decode: async (payload) => decodeResponse(payload), parse: async (committed) => committed },
  });
  return offset;
}

interface CommittedOffset {
  readonly offset: number | null;
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
function decodeResponse(payload: Buffer): CommittedOffset {
  const reader = new CompactReader(payload);
  const clientSideThrottleTime = reader.i32();
  let committed: number | null = null;
  let code = 0;
  reader.array(() => {
    reader.text();
    reader.array(() => {
      reader.i32();
      const offset = reader.i64();
      reader.i32();
      reader.text();
      code ||= reader.i16();
      if (offset >= 0) committed = offset;
    });
  });
  code ||= reader.i16();
  if (code !== 0) throw errorFromCode(code);
  return { offset: committed, clientSideThrottleTime };
}
