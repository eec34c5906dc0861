import { randomInt } from 'node:crypto';
import type { PartitionMetadata } from '../protocol/protocol-request.ts';

/** The partition that Kafka's own clients choose for a key, among so many. */
export function keyPartitioner(partitions: number): (key: Buffer) => number {
  return (key) => (murmur2(key) & POSITIVE) % partitions;
}

/** A record without a key goes to the next partition that has a leader. */
export function recordPartitioner(
  first = randomInt(2 ** 31),
): (key: Buffer | null, partitions: readonly PartitionMetadata[]) => number {
  let turn = first;
  return (key, partitions) => {
    if (key !== null) return keyPartitioner(partitions.length)(key);
    const led = partitions.filter(({ leader }) => leader >= 0);
    const available = led.length > 0 ? led : partitions;
    return available[turn++ % available.length].partitionId;
  };
}

const POSITIVE = 0x7fffffff;
const SEED = 0x9747b28c;
const FACTOR = 0x5bd1e995;

/** MurmurHash2 by Austin Appleby, 32 bits, with the seed of Kafka's clients. */
function murmur2(key: Buffer): number {
  let hash = SEED ^ key.length;
  let at = 0;
  for (; at + 4 <= key.length; at += 4) {
    const word = Math.imul(key.readInt32LE(at), FACTOR);
    hash = Math.imul(hash, FACTOR) ^ Math.imul(word ^ (word >>> 24), FACTOR);
  }
  if (at < key.length) hash = Math.imul(hash ^ key.readUIntLE(at, key.length - at), FACTOR);
  hash = Math.imul(hash ^ (hash >>> 13), FACTOR);
  return hash ^ (hash >>> 15);
}
