import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../ops/service-error.ts';
import { type ClusterLink, disconnect, type KafkaConnection, linkCluster } from '../cluster/connection.ts';
import { GROUP_COORDINATOR, isCoordinatorChange } from '../cluster/coordinator.ts';
import { explainFailure, isConnectionFailure, protocolErrorType } from '../cluster/failure.ts';
import type { Broker } from '../protocol/protocol-request.ts';
import { assignedPartitions, encodeAssignment, groupProtocols, readersOf } from './group-protocol.ts';
import {
  type JoinedGroup,
  joinGroup,
  leaveGroup,
  type MemberAssignment,
  type MemberName,
  sendHeartbeat,
  syncGroup,
} from './group-requests.ts';
import { assignSticky, inOrderOfTaking } from './sticky-assignment.ts';

/** A member learns of a rebalance with its next heartbeat, and the other members wait for it. */
const HEARTBEAT_MS = 1_000;
/** Time that the consumer group waits for a member to join again. */
const REBALANCE_MS_MAX = 30_000;
const RETRY_MS_MIN = 50;
const RETRY_MS_MAX = 1_000;
const CONFIRM_RETRY_MS = 200;

const REBALANCE = 'REBALANCE_IN_PROGRESS';
/** The consumer group continued without this member: others own its partitions. */
const LOST = new Set(['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION']);
/** Another member has joined under the id of this static one. */
const REPLACED = 'FENCED_INSTANCE_ID';

interface MembershipHandlers {
  /** The assigned partitions, each time the group was joined; none when the membership was lost. */
  onAssignment(partitions: readonly number[]): void;
  onConnection(error: ServiceError | null): void;
  onFatal(error: ServiceError): void;
}

interface GroupOptions {
  readonly groupId: string;
  readonly topic: string;
  readonly sessionMs: number;
  /** Id of a static member: nobody else takes its partitions while it is away for less than `sessionMs`. */
  readonly instanceId?: string | null;
}

/**
 * Membership in a consumer group:
 *
 *   join -> sync -> heartbeat, heartbeat, ... -> rebalance: join again, and state what is owned
 *                                             -> lost: everything is revoked; join as a new member
 *                                             -> out of reach: look for the coordinator, and continue as a member
 */
export class GroupMembership {
  readonly #connection: KafkaConnection;
  readonly #group: GroupOptions;
  readonly #handlers: MembershipHandlers;
  readonly #left = new AbortController();
  #link: Promise<ClusterLink> | null = null;
  #coordinatorId: number | null = null;
  #memberId = '';
  /** null: the group is to be joined. */
  #generation: number | null = null;
  /** The newest assignment of this member, and its generation. */
  #claim = { generation: -1, owned: [] as readonly number[] };
  /** Partitions of the topic when this member, as the leader of the group, divided them; null for other members. */
  #divided: number | null = null;
  #heartbeat: Promise<unknown> = Promise.resolve();
  #nextHeartbeat: Promise<unknown> | null = null;
  #wake = () => {};
  #staying: Promise<void> = Promise.resolve();

  constructor(connection: KafkaConnection, group: GroupOptions, handlers: MembershipHandlers) {
    this.#connection = connection;
    this.#group = group;
    this.#handlers = handlers;
  }

  /** Joins for the first time. Throws a ServiceError when Kafka cannot be reached. */
  async join(): Promise<void> {
    const deadlineMs = performance.now() + REBALANCE_MS_MAX;
    while (this.#generation === null) {
      try {
        await this.#joinGroup();
      } catch (error) {
        const isPassing = isCoordinatorChange(error) || this.#isLostOrRebalance(error);
        if (isPassing && performance.now() < deadlineMs) {
          this.#coordinatorId = null;
          await sleep(RETRY_MS_MIN);
          continue;
        }
        await this.leave();
        throw this.#explain(error, `joining group ${this.#group.groupId}`);
      }
    }
    this.#staying = this.#stay();
  }

  /** Resolves when the coordinator has confirmed that this member owns the partition, or throws the signal's reason. */
  async confirm(partition: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const confirmed = await this.#sendHeartbeat().then(
        () => true,
        (error: unknown) => protocolErrorType(error) === REBALANCE,
      );
      if (confirmed && this.#claim.owned.includes(partition)) return;
      this.#wake();
      await sleep(CONFIRM_RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Leaves the group, so that the others need not wait for the session time-out. A static member may come back. */
  async leave(): Promise<void> {
    this.#left.abort();
    this.#disconnect();
    this.#wake();
    await this.#staying;
    if (this.#memberId === '') return;
    const isStatic = this.#name.instanceId !== null;
    const leaving = isStatic ? null : this.#coordinator().then((broker) => leaveGroup(broker, this.#name));
    await disconnect(Promise.resolve(leaving), () => this.#disconnect());
  }

  get #name(): MemberName {
    return { groupId: this.#group.groupId, memberId: this.#memberId, instanceId: this.#group.instanceId ?? null };
  }

  async #stay(): Promise<void> {
    const intervalMs = Math.min(HEARTBEAT_MS, this.#group.sessionMs / 3);
    let retryMs = RETRY_MS_MIN;
    await this.#pause(intervalMs);
    while (!this.#left.signal.aborted) {
      try {
        if (this.#generation === null) await this.#joinGroup();
        else await this.#sendHeartbeat();
        await this.#joinWhenDivisionIsOutdated();
        this.#handlers.onConnection(null);
        retryMs = RETRY_MS_MIN;
        await this.#pause(this.#generation === null ? 0 : intervalMs);
      } catch (error) {
        if (this.#left.signal.aborted) return;
        if (this.#isLostOrRebalance(error)) continue;
        this.#reportFailure(error);
        await this.#pause(retryMs);
        retryMs = Math.min(2 * retryMs, RETRY_MS_MAX);
      }
    }
  }

  /** True if the group is to be joined again. Revokes everything when the membership was lost. */
  #isLostOrRebalance(error: unknown): boolean {
    const type = protocolErrorType(error);
    const isLost = LOST.has(type);
    if (!isLost && type !== REBALANCE) return false;
    this.#generation = null;
    if (isLost) {
      this.#connection.log?.('warn', 'The consumer group continued without this member, which joins it again', {});
      this.#memberId = '';
      this.#claim = { generation: -1, owned: [] };
      this.#handlers.onAssignment([]);
    }
    return true;
  }

  #explain(error: unknown, doing: string): ServiceError {
    if (protocolErrorType(error) !== REPLACED) return explainFailure(error, doing);
    const { groupId, instanceId } = this.#name;
    const text = `Another worker of group ${groupId} has joined with the instance id ${instanceId}`;
    const remedy = 'and replaces this one: give each worker a KAFKA_GROUP_INSTANCE_ID of its own';
    return new ServiceError('configuration', `${text}, ${remedy}`, { cause: error });
  }

  #reportFailure(error: unknown): void {
    const failure = this.#explain(error, 'taking part in its group');
    if (isConnectionFailure(error)) this.#disconnect();
    this.#coordinatorId = null;
    if (failure.code === 'configuration') {
      this.#handlers.onAssignment([]);
      this.#handlers.onFatal(failure);
    } else this.#handlers.onConnection(failure);
  }

  async #joinGroup(): Promise<void> {
    const { groupId, topic, sessionMs } = this.#group;
    const broker = await this.#coordinator();
    const joined = await joinGroup(broker, {
      ...this.#name,
      sessionMs,
      rebalanceMs: Math.max(REBALANCE_MS_MAX, sessionMs),
      protocols: groupProtocols(topic, this.#claim),
    });
    const { memberId, generationId } = joined;
    this.#memberId = memberId;
    const assignments = await this.#divide(joined);
    const assignment = await syncGroup(broker, { ...this.#name, generationId, assignments });
    if (this.#left.signal.aborted) return;
    const { owned, otherTopic } = assignedPartitions(topic, assignment);
    if (otherTopic !== null) throw sharedGroup(groupId, { topic, otherTopic });
    this.#generation = generationId;
    this.#claim = { generation: generationId, owned: inOrderOfTaking(this.#claim.owned, owned) };
    this.#handlers.onAssignment(owned);
  }

  /** The assignments of all members, where this one is to divide the partitions. */
  async #divide({ isLeader, divides, members }: JoinedGroup): Promise<readonly MemberAssignment[]> {
    this.#divided = null;
    if (!isLeader) return [];
    const { topic } = this.#group;
    const partitions = await this.#partitions();
    this.#divided = partitions.length;
    if (!divides) return [];
    const shares = assignSticky(readersOf(topic, members), partitions);
    // A member that reads another topic learns from its assignment that the group divides this one.
    return members.map(({ memberId }) => encodeAssignment(topic, memberId, shares.get(memberId) ?? []));
  }

  async #partitions(): Promise<number[]> {
    const { cluster } = await this.#connected();
    await cluster.refreshMetadata();
    return cluster.findTopicPartitionMetadata(this.#group.topic).map(({ partitionId }) => partitionId);
  }

  /** The leader of the group looks for new partitions, and divides them with a rebalance. */
  async #joinWhenDivisionIsOutdated(): Promise<void> {
    if (this.#divided === null) return;
    const { cluster } = await this.#connected();
    await cluster.refreshMetadataIfNecessary();
    const { length } = cluster.findTopicPartitionMetadata(this.#group.topic);
    if (length !== this.#divided) this.#generation = null;
  }

  /** Callers that come together share the next heartbeat. One that is in flight may be older than their question. */
  #sendHeartbeat(): Promise<unknown> {
    this.#nextHeartbeat ??= this.#heartbeat
      .catch(() => undefined)
      .then(() => {
        this.#nextHeartbeat = null;
        this.#heartbeat = this.#heartbeatNow();
        return this.#heartbeat;
      });
    return this.#nextHeartbeat;
  }

  async #heartbeatNow(): Promise<unknown> {
    const broker = await this.#coordinator();
    if (this.#generation === null) throw new ServiceError('broker-unavailable', 'The group is being joined');
    return sendHeartbeat(broker, { ...this.#name, generationId: this.#generation });
  }

  async #coordinator(): Promise<Broker> {
    const { cluster } = await this.#connected();
    if (this.#coordinatorId !== null) return cluster.findBroker({ nodeId: this.#coordinatorId });
    const { groupId } = this.#group;
    const found = await cluster.findGroupCoordinator({ groupId, coordinatorType: GROUP_COORDINATOR });
    this.#coordinatorId = found.nodeId;
    return found;
  }

  #connected(): Promise<ClusterLink> {
    if (this.#link !== null) return this.#link;
    const link = linkCluster(this.#connection, [this.#group.topic]);
    this.#link = link;
    // The next request connects again, regardless of the reason: the topic may be missing for a while.
    link.catch(() => {
      if (this.#link === link) this.#link = null;
    });
    return link;
  }

  /** Rejects the requests in flight. The next one connects again. */
  #disconnect(): void {
    this.#link?.then(
      (link) => link.destroy(),
      () => undefined,
    );
    this.#link = null;
    this.#coordinatorId = null;
  }

  /** Sleeps until `ms` have passed, or something is to be done at once. */
  #pause(ms: number): Promise<void> {
    if (this.#left.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Two inputs in one group would have one changelog. */
function sharedGroup(groupId: string, topics: { readonly topic: string; readonly otherTopic: string }): ServiceError {
  const text = `Group ${groupId} reads topic ${topics.otherTopic}, and this worker topic ${topics.topic}`;
  return new ServiceError('configuration', `${text}: give it a KAFKA_GROUP_ID of its own`);
}
