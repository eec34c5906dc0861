import type { Consumer, ConsumerCrashEvent, ConsumerGroupJoinEvent } from 'kafkajs';
import type { ServiceError } from '../../service-error.ts';
import { type KafkaConnection, kafkaClient, partFrom } from './connection.ts';
import { explainFailure } from './failure.ts';

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

export interface Membership {
  /** Leaves the group, so that the others need not wait for the session's end. */
  leave(): Promise<void>;
}

/**
 * Is a member of a consumer group by kafkajs's consumer, which keeps joining again through whatever happens to the brokers. It only
 * keeps the membership; records are fetched elsewhere. Throws a ServiceError when the first connection fails.
 */
export async function joinGroup(
  connection: KafkaConnection,
  group: { readonly groupId: string; readonly topic: string; readonly sessionMs: number },
  handlers: MembershipHandlers,
): Promise<Membership> {
  const client = kafkaClient(connection);
  let left = false;
  let rebuild: NodeJS.Timeout | undefined;
  let consumer = createConsumer();

  function createConsumer(): Consumer {
    const created = client.kafka.consumer({
      groupId: group.groupId,
      sessionTimeout: group.sessionMs,
      heartbeatInterval: Math.min(heartbeatMs, group.sessionMs / 3),
      rebalanceTimeout: rebalanceMsMax,
      maxWaitTimeInMs: idleMs,
      allowAutoTopicCreation: false,
      // A consumer that has left must not come back from a restart that was already under way.
      retry: { initialRetryTime: 50, maxRetryTime: 1_000, retries: 5, restartOnFailure: async () => !left },
    });
    created.on(created.events.GROUP_JOIN, (event) => joined(created, event));
    created.on(created.events.CRASH, crashed);
    return created;
  }

  function joined(member: Consumer, { payload }: ConsumerGroupJoinEvent): void {
    if (left) return;
    member.pause([{ topic: group.topic }]);
    handlers.onConnection(null);
    handlers.onAssignment([...(payload.memberAssignment[group.topic] ?? [])].sort((one, other) => one - other));
  }

  function crashed({ payload }: ConsumerCrashEvent): void {
    if (left) return;
    const failure = explainFailure(payload.error, 'this worker was a member of its group');
    if (failure.code === 'configuration') {
      handlers.onFatal(failure);
      return;
    }
    handlers.onConnection(failure);
    if (!payload.restart) rebuildLater();
  }

  function rebuildLater(): void {
    rebuild = setTimeout(() => {
      consumer = createConsumer();
      run().catch((error: unknown) => {
        if (left) return;
        connection.log?.('debug', `Joining the group again failed: ${(error as Error).message}`);
        rebuildLater();
      });
    }, rebuildMs);
  }

  async function run(): Promise<void> {
    await consumer.connect();
    await consumer.subscribe({ topic: group.topic, fromBeginning: true });
    await consumer.run({ autoCommit: false, eachBatch: async () => undefined });
  }

  const leave = async () => {
    left = true;
    clearTimeout(rebuild);
    await partFrom(consumer.disconnect(), client.destroy);
  };

  try {
    await run();
  } catch (error) {
    await leave();
    throw explainFailure(error, `group ${group.groupId} was joined`);
  }
  return { leave };
}
