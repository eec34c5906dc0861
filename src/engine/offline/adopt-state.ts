import {
  decodePosition,
  encodePosition,
  POSITION_KEY,
  type StoredPosition,
} from '../../checkpoint/partition-records.ts';
import type { Topics } from '../../config/config.ts';
import type { PartitionSession } from '../log/log.ts';

/** Outcome of adopting the state of a partition whose changelog was copied from another cluster. */
type Adoption =
  /** It continues at this offset of the input here; there it was `before`. */
  | { readonly kind: 'adopted'; readonly offset: number; readonly before: number }
  /** It belongs to the input here already. */
  | { readonly kind: 'own' }
  /** There is none. */
  | { readonly kind: 'empty' }
  /** The group has no offset here, so where the input continues is unknown. */
  | { readonly kind: 'without-offset' };

/**
 * Ties copied state to the input of this cluster, where records have other offsets: it continues at the offset that the
 * consumer group has here. Without that a worker takes the input for a topic that was created again, and its series
 * start over.
 */
export async function adoptState(session: PartitionSession, topics: Pick<Topics, 'changelog'>): Promise<Adoption> {
  let stored: StoredPosition | null = null;
  await session.readChangelog((key, value) => {
    if (key.equals(POSITION_KEY) && value !== null) stored = decodePosition(value);
  });
  const position = stored as StoredPosition | null;
  const { committedOffset: offset, inputTopicId: topicId, partition } = session;
  if (position === null) return { kind: 'empty' };
  if (position.topicId === topicId) return { kind: 'own' };
  if (offset === null) return { kind: 'without-offset' };
  const value = encodePosition({ ...position, nextOffset: offset, topicId });
  await session.commit([{ topic: topics.changelog, partition, key: POSITION_KEY, value }], offset);
  return { kind: 'adopted', offset, before: position.nextOffset };
}

/** A sentence for the operator. */
export function adoptionText(partition: number, adoption: Adoption, groupId: string): string {
  const place = `partition ${partition}`;
  switch (adoption.kind) {
    case 'adopted':
      return `${place}: its state continues at offset ${adoption.offset}, which was ${adoption.before} before`;
    case 'own':
      return `${place}: its state belongs to the input of this cluster already`;
    case 'empty':
      return `${place}: there is no state`;
    case 'without-offset':
      return (
        `${place}: group ${groupId} has no offset here, so where its state continues is unknown: ` +
        'translate the offsets of the group first'
      );
  }
}
