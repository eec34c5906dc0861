import type { Consumer, ConsumerCrashEvent, ConsumerGroupJoinEvent } from 'kafkajs';
import type { ServiceError } from '../../../service-error.ts';
import { type KafkaConnection, kafkaClient, linkCluster, partFrom } from './connection.ts';
import { explainFailure, protocolErrorType } from './failure.ts';
import { withPatience } from './retry.ts';

/** Every partition stays paused, so kafkajs never fetches: it sleeps this long between looks at its heartbeat. */
const idleMs = 100;
/** A worker learns of a rebalance at its next heartbeat, and the others wait for it. */
const heartbeatMs = 1_000;
const rebalanceMsMax = 30_000;
const rebuildMs = 1_000;

export interface MembershipHandlers {
  /** The partitions of the topic that are this member's from now on. Called synchronously when the group is joined. */
  onAssignment(partitions: readonly number[]): void;
  onConnection(error: ServiceError | null): void;
  onFatal(error: ServiceError): void;
}

export interface GroupOptions {
  readonly groupId: string;
  readonly topic: string;
  readonly sessionMs: number;
}

/**
 * A member of a consumer group by kafkajs's consumer, which keeps joining again through whatever happens to the brokers. It only
 * keeps the membership; records are fetched elsewhere.
 */
export class GroupMembership {
  readonly #connection: KafkaConnection;
  readonly #group: GroupOptions;
  readonly #handlers: MembershipHandlers;
  readonly #client: ReturnType<typeof kafkaClient>;
  readonly #left = new AbortController();
  #consumer: Consumer | null = null;
  #memberId: string | null = null;
  #rebuild: NodeJS.Timeout | undefined;

  constructor(connection: KafkaConnection, group: GroupOptions, handlers: MembershipHandlers) {
    this.#connection = connection;
    this.#group = group;
    this.#handlers = handlers;
    this.#client = kafkaClient(connection);
  }

  /** Joins for the first time. Throws a ServiceError when Kafka cannot be reached. */
  async join(): Promise<void> {
    try {
      await this.#run();
    } catch (error) {
      await this.leave();
      throw explainFailure(error, `group ${this.#group.groupId} was joined`);
    }
  }

  /** Leaves the group, so that the others need not wait for the session's end. */
  async leave(): Promise<void> {
    this.#left.abort();
    clearTimeout(this.#rebuild);
    await partFrom(this.#consumer?.disconnect() ?? Promise.resolve(), this.#client.destroy);
  }

  async #run(): Promise<void> {
    const { groupId, sessionMs, topic } = this.#group;
    const consumer = this.#client.kafka.consumer({
      groupId,
      sessionTimeout: sessionMs,
      heartbeatInterval: Math.min(heartbeatMs, sessionMs / 3),
      rebalanceTimeout: rebalanceMsMax,
      maxWaitTimeInMs: idleMs,
      allowAutoTopicCreation: false,
      // A consumer that has left must not come back from a restart that was already under way.
      retry: {
        initialRetryTime: 50,
        maxRetryTime: 1_000,
        retries: 5,
        restartOnFailure: async () => !this.#left.signal.aborted,
      },
    });
    this.#consumer = consumer;
    consumer.on(consumer.events.GROUP_JOIN, (event) => this.#joined(consumer, event));
    consumer.on(consumer.events.CRASH, (event) => this.#crashed(event));
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({ autoCommit: false, eachBatch: async () => undefined });
  }

  #joined(consumer: Consumer, { payload }: ConsumerGroupJoinEvent): void {
    if (this.#left.signal.aborted) return;
    const { topic } = this.#group;
    consumer.pause([{ topic }]);
    this.#memberId = payload.memberId;
    this.#handlers.onConnection(null);
    this.#handlers.onAssignment([...(payload.memberAssignment[topic] ?? [])].sort((one, other) => one - other));
  }

  #crashed({ payload }: ConsumerCrashEvent): void {
    if (this.#left.signal.aborted) return;
    const failure = explainFailure(payload.error, 'this worker was a member of its group');
    if (failure.code === 'configuration') {
      this.#handlers.onFatal(failure);
      return;
    }
    this.#handlers.onConnection(failure);
    if (this.#memberId !== null) void dismissMember(this.#connection, this.#group, this.#memberId, this.#left.signal);
    this.#memberId = null;
    if (!payload.restart) this.#rebuildLater();
  }

  #rebuildLater(): void {
    this.#rebuild = setTimeout(() => {
      this.#run().catch((error: unknown) => {
        if (this.#left.signal.aborted) return;
        this.#connection.log?.('debug', `Joining the group again failed: ${(error as Error).message}`);
        this.#rebuildLater();
      });
    }, rebuildMs);
  }
}

/**
 * After a crash kafkajs joins as a new member, and the group waits for the old one until its session has timed out. This tells the
 * group, as soon as it can be reached, that the old one will not come back.
 */
async function dismissMember(
  connection: KafkaConnection,
  { groupId, sessionMs }: GroupOptions,
  memberId: string,
  gone: AbortSignal,
): Promise<void> {
  const attempt = async () => {
    const link = await linkCluster(connection, []);
    try {
      const coordinator = await link.cluster.findGroupCoordinator({ groupId, coordinatorType: 0 });
      await coordinator.leaveGroup({ groupId, memberId });
    } finally {
      link.destroy();
    }
  };
  const worthwhile = (error: unknown) => protocolErrorType(error) !== 'UNKNOWN_MEMBER_ID';
  // When it does not succeed in that time, the session has ended by itself.
  const patience = { firstMs: 100, nextMsMax: 300, totalMsMax: sessionMs };
  await withPatience(attempt, worthwhile, patience, gone).catch(() => undefined);
}
