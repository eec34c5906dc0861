import { type Broker, errorFromCode } from './kafkajs-internals.ts';
import { readInt64 } from './record-batch-decoder.ts';

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
 * OffsetFetch request, version 7, in the compact encoding. Lengths are uvarints of n + 1. Each structure ends with its
 * tagged fields, here none; so does the header before this body: tags | groupId | [topic | [partition i32] | tags] |
 * stable u8 | tags
 */
function encodeBody(groupId: string, topic: string, partition: number): Buffer {
  const number = Buffer.alloc(4);
  number.writeInt32BE(partition);
  const none = Buffer.from([0]);
  const one = Buffer.from([2]);
  const stable = Buffer.from([1]);
  return Buffer.concat([none, compact(groupId), one, compact(topic), one, number, none, stable, none]);
}

function compact(text: string): Buffer {
  const bytes = Buffer.from(text);
  // Names of groups and topics are shorter than 2^14 bytes: two bytes of length are enough.
  const size = bytes.length + 1;
  return Buffer.concat([Buffer.from(size < 128 ? [size] : [(size & 127) | 128, size >>> 7]), bytes]);
}

/**
 * tags | throttleMs i32 | [topic | [partition i32 | offset i64 | leaderEpoch i32 | metadata | errorCode i16 | tags] |
 * tags] | errorCode i16 | tags
 */
function decodeResponse(payload: Buffer): CommittedOffset {
  let at = 5;
  /** Reads a uvarint of n + 1 and returns n. */
  const count = (): number => {
    let value = 0;
    let byte: number;
    let shift = 0;
    do {
      byte = payload.readUInt8(at++);
      value |= (byte & 127) << shift;
      shift += 7;
    } while (byte > 127);
    return value - 1;
  };
  let committed: number | null = null;
  let code = 0;
  for (let topics = count(); topics > 0; topics--) {
    const name = count();
    at += name;
    for (let partitions = count(); partitions > 0; partitions--) {
      const offset = readInt64(payload, at + 4);
      at += 16;
      const metadata = count();
      at += Math.max(0, metadata);
      code ||= payload.readInt16BE(at);
      at += 3;
      if (offset >= 0) committed = offset;
    }
    at += 1;
  }
  code ||= payload.readInt16BE(at);
  if (code !== 0) throw errorFromCode(code);
  return { offset: committed, clientSideThrottleTime: payload.readInt32BE(1) };
}
