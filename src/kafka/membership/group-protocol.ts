import { array, bytes, decodeFields, encodeFields, i16, i32, string, struct } from '../protocol/protocol-fields.ts';
import type { JoinedMember, MemberAssignment } from './group-requests.ts';
import type { GroupMember } from './sticky-assignment.ts';

/**
 * The names under which members join. A group uses one that all its members know: earlier versions know the second
 * only. The leader divides the partitions in the same way under both.
 */
const PROTOCOLS = ['TidewatchSticky', 'RoundRobinAssigner'];
const VERSION = 0;
const PLAIN = { version: VERSION, isCompact: false };

/** Bytes that members of a consumer group exchange, as Kafka's own clients do; the coordinator forwards them unread. */
const METADATA = { version: i16, topics: array(string), userData: bytes };
const ASSIGNMENT = {
  version: i16,
  topics: array(struct({ topic: string, partitions: array(i32) })),
  userData: bytes,
};
const NOTHING = Buffer.alloc(0);

type OwnedPartitions = Pick<GroupMember, 'generation' | 'owned'>;

export function groupProtocols(topic: string, { generation, owned }: OwnedPartitions) {
  const userData = Buffer.from(JSON.stringify({ generation, owned }));
  const values = { version: VERSION, topics: [topic], userData };
  const metadata = encodeFields(PLAIN, METADATA, values);
  return PROTOCOLS.map((name) => ({ name, metadata }));
}

/** The members that read `topic`, and what they own. Members of earlier versions claim nothing. */
export function readersOf(topic: string, members: readonly JoinedMember[]): GroupMember[] {
  return members.flatMap(({ memberId, metadata }) => {
    const { topics, userData } = decodeFields(PLAIN, METADATA, metadata);
    return topics.includes(topic) ? [{ memberId, ...ownedOf(userData) }] : [];
  });
}

function ownedOf(userData: Buffer): OwnedPartitions {
  if (userData.length === 0) return { generation: -1, owned: [] };
  const { generation, owned } = JSON.parse(userData.toString()) as OwnedPartitions;
  return { generation, owned };
}

export function encodeAssignment(topic: string, memberId: string, partitions: readonly number[]): MemberAssignment {
  const values = { version: VERSION, topics: [{ topic, partitions }], userData: NOTHING };
  return { memberId, assignment: encodeFields(PLAIN, ASSIGNMENT, values) };
}

/** The partitions of each topic that a member was given; none where it was given nothing. */
export function decodeAssignment(assignment: Buffer): ReadonlyMap<string, readonly number[]> {
  if (assignment.length === 0) return new Map();
  const { topics } = decodeFields(PLAIN, ASSIGNMENT, assignment);
  return new Map(topics.map(({ topic, partitions }) => [topic ?? '', partitions]));
}

/** The assigned partitions in ascending order, or the other topic that the leader of the group divides. */
export function assignedPartitions(
  topic: string,
  assignment: Buffer,
): { readonly owned: readonly number[]; readonly otherTopic: string | null } {
  const assigned = decodeAssignment(assignment);
  const owned = [...(assigned.get(topic) ?? [])].sort((one, other) => one - other);
  const otherTopic = assigned.has(topic) ? null : ([...assigned.keys()][0] ?? null);
  return { owned, otherTopic };
}
