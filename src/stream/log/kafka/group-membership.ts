import type { Consumer, ConsumerCrashEvent, ConsumerGroupJoinEvent } from 'kafkajs';
import type { ServiceError } from '../../../service-error.ts';
import { disconnect, type KafkaConnection, kafkaClient, linkCluster } from './connection.ts';
import { explainFailure, protocolErrorType } from './failure.ts';
import { retryWithBackoff } from './retry.ts';

/** All partitions stay paused, so kafkajs never fetches. It sleeps this long between checks of its heartbeat. */
const IDLE_MS = 100;
/** A member learns of a rebalance with its next heartbeat, and the other members wait for it. */
const HEARTBEAT_MS = 1_000;
const REBALANCE_MS_MAX = 30_000;
const REBUILD_MS = 1_000;

export interface MembershipHandlers {
  /** The assigned partitions of the topic. Called synchronously when the group is joined. */
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
 * Membership in a consumer group, by kafkajs's consumer. The consumer joins again after every failure. It fetches no
 * records: the fetch loop does.
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

  /** Leaves the group, so that the others need not wait for the session time-out. */
  async leave(): Promise<void> {
    this.#left.abort();
    clearTimeout(this.#rebuild);
    await disconnect(this.#consumer?.disconnect() ?? Promise.resolve(), this.#client.destroy);
  }

  async #run(): Promise<void> {
    const { groupId, sessionMs, topic } = this.#group;
    const consumer = this.#client.kafka.consumer({
      groupId,
      sessionTimeout: sessionMs,
      heartbeatInterval: Math.min(HEARTBEAT_MS, sessionMs / 3),
      rebalanceTimeout: REBALANCE_MS_MAX,
      maxWaitTimeInMs: IDLE_MS,
      allowAutoTopicCreation: false,
      // A consumer that left must not join again by a restart that had begun before.
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
    if (this.#memberId !== null)
      void removeMember(this.#connection, { ...this.#group, memberId: this.#memberId }, this.#left.signal);
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
    }, REBUILD_MS);
  }
}

/**
 * After a crash kafkajs joins as a new member, and the group waits for the old member until the session time-out. This
 * removes the old member from the group as soon as the coordinator can be reached.
 */
async function removeMember(
  connection: KafkaConnection,
  { groupId, sessionMs, memberId }: GroupOptions & { readonly memberId: string },
  signal: AbortSignal,
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
  const isRetryable = (error: unknown) => protocolErrorType(error) !== 'UNKNOWN_MEMBER_ID';
  // After `sessionMs` the session has timed out anyway.
  const backoff = { initialMs: 100, delayMsMax: 300, totalMsMax: sessionMs };
  await retryWithBackoff(attempt, { isRetryable, backoff, signal }).catch(() => undefined);
}
