import { type JoinedMember, MemberAssignment, MemberMetadata } from '../cluster/kafkajs-internals.ts';
import type { GroupMember } from './sticky-assignment.ts';

/**
 * The names under which members join. A group uses one that all its members know: earlier versions know the second
 * only. The leader divides the partitions in the same way under both.
 */
const PROTOCOLS = ['TidewatchSticky', 'RoundRobinAssigner'];
const VERSION = 0;

export type OwnedPartitions = Pick<GroupMember, 'generation' | 'owned'>;

/** What a member says when it joins. */
export function groupProtocols(topic: string, { generation, owned }: OwnedPartitions) {
  const userData = Buffer.from(JSON.stringify({ generation, owned }));
  const metadata = MemberMetadata.encode({ version: VERSION, topics: [topic], userData });
  return PROTOCOLS.map((name) => ({ name, metadata }));
}

/** The members that read `topic`, and what they own. Members of earlier versions claim nothing. */
export function readersOf(topic: string, members: readonly JoinedMember[]): GroupMember[] {
  return members
    .filter(({ memberMetadata }) => MemberMetadata.decode(memberMetadata).topics.includes(topic))
    .map(decodeMember);
}

function decodeMember({ memberId, memberMetadata }: JoinedMember): GroupMember {
  const { userData } = MemberMetadata.decode(memberMetadata);
  if (!userData?.length) return { memberId, generation: -1, owned: [] };
  const { generation, owned } = JSON.parse(userData.toString()) as OwnedPartitions;
  return { memberId, generation, owned };
}

export function encodeAssignment(topic: string, memberId: string, partitions: readonly number[]) {
  const assignment = { [topic]: [...partitions] };
  return { memberId, memberAssignment: MemberAssignment.encode({ version: VERSION, assignment }) };
}

/** The assigned partitions in ascending order, or the other topic that the leader of the group divides. */
export function decodeAssignment(
  topic: string,
  memberAssignment: Buffer,
): { readonly owned: readonly number[]; readonly otherTopic: string | null } {
  const assignment = MemberAssignment.decode(memberAssignment)?.assignment ?? {};
  const owned = [...(assignment[topic] ?? [])].sort((one, other) => one - other);
  const otherTopic = Object.hasOwn(assignment, topic) ? null : (Object.keys(assignment)[0] ?? null);
  return { owned, otherTopic };
}
