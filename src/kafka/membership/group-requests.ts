import { errorFromCode } from '../cluster/kafkajs.ts';
import { array, bytes, i8, i16, i32, since, string, struct } from '../protocol/protocol-fields.ts';
import { type Broker, sendRequest } from '../protocol/protocol-request.ts';

/** A member of a consumer group, as it names itself. */
export interface MemberName {
  readonly groupId: string;
  /** Empty: a new one. */
  readonly memberId: string;
  /** Id of a static member, whose partitions wait for it through a restart; null for a dynamic one. */
  readonly instanceId: string | null;
}

/** A member of a consumer group as its leader sees it. */
export interface JoinedMember {
  readonly memberId: string;
  readonly metadata: Buffer;
}

export interface JoinedGroup {
  readonly memberId: string;
  readonly generationId: number;
  readonly isLeader: boolean;
  /** True if this member, as the leader, divides the partitions. */
  readonly divides: boolean;
  /** For the leader. */
  readonly members: readonly JoinedMember[];
}

const THROTTLED = { clientSideThrottleTime: i32, errorCode: i16 };

/**
 * 5: the first one with static members. 9: a static member that comes back learns that it is the leader, and need not
 * divide.
 */
const JOIN_GROUP = {
  name: 'JoinGroup',
  key: 11,
  versions: [5, 9],
  compactSince: 6,
  request: {
    groupId: string,
    sessionMs: i32,
    rebalanceMs: i32,
    memberId: string,
    instanceId: string,
    protocolType: string,
    protocols: array(struct({ name: string, metadata: bytes })),
    reason: since(8, string, null),
  },
  answer: {
    ...THROTTLED,
    generationId: i32,
    protocolType: since(7, string, null),
    protocolName: string,
    leaderId: string,
    skipsAssignment: since(9, i8, 0),
    memberId: string,
    members: array(struct({ memberId: string, instanceId: string, metadata: bytes })),
  },
};
const MEMBER_ID_REQUIRED = 79;
const CONSUMER = 'consumer';
/** An answer waits for the other members. */
const NETWORK_MS = 5_000;

interface JoinGroupRequest extends MemberName {
  readonly sessionMs: number;
  readonly rebalanceMs: number;
  readonly protocols: readonly { readonly name: string; readonly metadata: Buffer }[];
}

/** Joins a group. A new member is given its id first, and joins again with it. */
export async function joinGroup(broker: Broker, request: JoinGroupRequest): Promise<JoinedGroup> {
  const waitMsMax = Math.max(request.rebalanceMs, request.sessionMs) + NETWORK_MS;
  const values = { ...request, protocolType: CONSUMER, reason: null };
  const answer = await sendRequest(broker, JOIN_GROUP, values, waitMsMax);
  const memberId = answer.memberId ?? '';
  if (answer.errorCode === MEMBER_ID_REQUIRED) return joinGroup(broker, { ...request, memberId });
  refuseError(answer);
  const isLeader = memberId === answer.leaderId;
  const members = answer.members.map((member) => ({ ...member, memberId: member.memberId ?? '' }));
  return {
    memberId,
    generationId: answer.generationId,
    isLeader,
    divides: isLeader && answer.skipsAssignment === 0,
    members,
  };
}

const SYNC_GROUP = {
  name: 'SyncGroup',
  key: 14,
  versions: [3],
  compactSince: 4,
  request: {
    groupId: string,
    generationId: i32,
    memberId: string,
    instanceId: string,
    assignments: array(struct({ memberId: string, assignment: bytes })),
  },
  answer: { ...THROTTLED, assignment: bytes },
};

interface GroupGeneration extends MemberName {
  readonly generationId: number;
}

export interface MemberAssignment {
  readonly memberId: string;
  readonly assignment: Buffer;
}

/** Returns the assignment of this member. `assignments` are those of all members, from the one that divides. */
export async function syncGroup(
  broker: Broker,
  request: GroupGeneration & { readonly assignments: readonly MemberAssignment[] },
): Promise<Buffer> {
  return refuseError(await sendRequest(broker, SYNC_GROUP, request)).assignment;
}

const HEARTBEAT = {
  name: 'Heartbeat',
  key: 12,
  versions: [3],
  compactSince: 4,
  request: { groupId: string, generationId: i32, memberId: string, instanceId: string },
  answer: THROTTLED,
};

export async function sendHeartbeat(broker: Broker, request: GroupGeneration): Promise<void> {
  refuseError(await sendRequest(broker, HEARTBEAT, request));
}

const LEAVE_GROUP = {
  name: 'LeaveGroup',
  key: 13,
  versions: [3],
  compactSince: 4,
  request: { groupId: string, members: array(struct({ memberId: string, instanceId: string })) },
  answer: THROTTLED,
};

export async function leaveGroup(broker: Broker, { groupId, ...member }: MemberName): Promise<void> {
  refuseError(await sendRequest(broker, LEAVE_GROUP, { groupId, members: [member] }));
}

function refuseError<Answer extends { readonly errorCode: number }>(answer: Answer): Answer {
  if (answer.errorCode !== 0) throw errorFromCode(answer.errorCode);
  return answer;
}
