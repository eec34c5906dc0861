import type { Topics } from '../../config/config.ts';
import type { Compression } from '../../kafka/batch/compressed-batch.ts';
import { type KafkaConnection, linkCluster, withCluster } from '../../kafka/cluster/connection.ts';
import { QuotaDelays } from '../../kafka/cluster/quota-delays.ts';
import { SharedLink } from '../../kafka/cluster/shared-link.ts';
import type { FetchReport } from '../../kafka/fetch/fetch-handlers.ts';
import { FetchLoop } from '../../kafka/fetch/fetch-loop.ts';
import { type DeliveredHeaders, NO_HEADERS } from '../../kafka/fetch/input-records.ts';
import { LeaderEpochs } from '../../kafka/fetch/leader-epochs.ts';
import { GroupMembership } from '../../kafka/membership/group-membership.ts';
import { type CommitReport, openPartitionSession } from '../../kafka/partition-session.ts';
import type { Cluster } from '../../kafka/protocol/protocol-request.ts';
import { ServiceError } from '../../ops/service-error.ts';
import type { PartitionSession, StreamLog, Subscription, SubscriptionHandlers } from './log.ts';

interface KafkaLogOptions extends KafkaConnection {
  readonly topics: Topics;
  readonly groupId: string;
  /**
   * Prefix of every transactional id; the consumer group's id by default. All of its workers must use the same one to
   * fence each other.
   */
  readonly transactionalIdPrefix?: string;
  /** Time that a transaction may take; left out: as for a worker. */
  readonly transactionMs?: number;
  /** Session time-out: how long a dead worker keeps its partitions. Brokers set a minimum, usually 6 s. */
  readonly sessionMs: number;
  /** Id of a static member of the consumer group; left out, or null: the member is dynamic. */
  readonly instanceId?: string | null;
  /** Compression of batches of scores and events; none by default. */
  readonly compression?: Compression;
  /** Headers of input records that are delivered with them. */
  readonly headers?: DeliveredHeaders;
  /** True if a commit may write to any partition of the topics of scores and events; default: to its own alone. */
  readonly spread?: boolean;
  readonly onFetch?: (report: FetchReport) => void;
  readonly onAnswer?: (seconds: number) => void;
  readonly onCommit?: (report: CommitReport) => void;
}

/** The stream log on Kafka (2.5 or later). Exactly once, by one transactional producer for each input partition. */
export function createKafkaLog(given: KafkaLogOptions): StreamLog {
  const { delayedBy, onThrottled } = watchQuotas(given);
  const options: KafkaLogOptions = { ...given, onThrottled };
  const { topics, groupId } = options;
  const subscriptions = new Set<Subscription>();
  const sessions = new Set<PartitionSession>();
  const closing = new AbortController();
  const epochs = new LeaderEpochs();
  const shared = new SharedLink(() => linkCluster(options, [...new Set(Object.values(topics))], { isShared: true }));

  return {
    delayedBy,
    partitionCount: () => {
      const { observations } = topics;
      const doing = `counting the partitions of ${observations}`;
      const count = (cluster: Cluster) => cluster.findTopicPartitionMetadata(observations).length;
      return withCluster(options, { topics: [observations], doing }, count);
    },
    subscribe: async (handlers) => {
      closing.signal.throwIfAborted();
      const subscription = await subscribe(options, handlers, epochs);
      subscriptions.add(subscription);
      return subscription;
    },
    openPartition: async (partition, signal, onFailure) => {
      const prefix = options.transactionalIdPrefix ?? groupId;
      const sessionOptions = {
        shared,
        groupId,
        inputTopic: topics.observations,
        changelogTopic: topics.changelog,
        partitionedTopics: [topics.scores, topics.events],
        deadLettersTopic: topics.deadLetters,
        spread: options.spread ?? false,
        compression: options.compression ?? 'none',
        transactionalId: `${prefix}-${topics.observations}-${partition}`,
        partition,
        epochs,
        ...(options.onCommit && { onCommit: options.onCommit }),
        ...(options.transactionMs && { transactionMs: options.transactionMs }),
      };
      const until = signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]);
      const session = await openPartitionSession(options, sessionOptions, { signal: until, onFailure });
      const close = async () => {
        sessions.delete(session);
        await session.close();
      };
      sessions.add(session);
      return { ...session, close };
    },
    close: async () => {
      closing.abort(new ServiceError('internal', 'The log was closed'));
      await Promise.all([...subscriptions].map((subscription) => subscription.stop()));
      await Promise.all([...sessions].map((session) => session.close()));
      sessions.clear();
    },
  };
}

/**
 * The group membership receives the assignment, and the fetch loop reads the started partitions. The group is joined
 * before this resolves. The first assignment is reported just after that, when the caller has the subscription.
 */
async function subscribe(
  options: KafkaLogOptions,
  handlers: SubscriptionHandlers,
  epochs: LeaderEpochs,
): Promise<Subscription> {
  const topic = options.topics.observations;
  let assigned: ReadonlySet<number> | null = null;
  let stopped = false;
  let begun = false;
  const onFatal = (error: Error) => {
    if (!stopped) handlers.onFatal(error);
  };
  /** An error that a handler throws is not a failure of Kafka. It is fatal and not retried. */
  const call = (handler: () => void) => {
    try {
      if (!stopped) handler();
    } catch (error) {
      onFatal(error as Error);
    }
  };
  const assign = () => {
    const partitions = assigned;
    if (partitions !== null) call(() => handlers.onAssignment([...partitions]));
  };
  const connection = connectionState((error) => call(() => handlers.onConnection(error)));
  const loop = new FetchLoop(() => linkCluster(options, [topic]), topic, {
    onRecords: (...delivered) => call(() => handlers.onRecords(...delivered)),
    onConnection: (error) => connection('fetching', error),
    onStalled: (partition, error) => {
      if (error !== null) options.log?.('warn', error.message, { partition });
      call(() => handlers.onStalled(partition, error));
    },
    onFatal,
    epochs,
    headers: options.headers ?? NO_HEADERS,
    ...(options.onFetch && { onFetch: options.onFetch }),
    ...(options.onAnswer && { onAnswer: options.onAnswer }),
    ...(options.log && { log: options.log }),
  });
  await loop.open();
  const membership = new GroupMembership(
    options,
    { ...options, topic },
    {
      onAssignment: (partitions) => {
        assigned = new Set(partitions);
        loop.keepOnly(assigned);
        if (begun) assign();
      },
      onConnection: (error) => connection('membership', error),
      onFatal,
    },
  );
  await membership.join().catch((error: unknown) => {
    loop.stop();
    throw error;
  });
  setImmediate(() => {
    begun = true;
    assign();
  });
  return {
    start: (partition, offset, topicId) => {
      if (assigned?.has(partition) && !stopped) loop.start(partition, offset, topicId);
    },
    confirm: (partition, signal) => membership.confirm(partition, signal),
    pause: (partition) => loop.pause(partition),
    resume: (partition) => loop.resume(partition),
    end: (partition) => loop.end(partition),
    stop: async () => {
      stopped = true;
      loop.stop();
      await membership.leave();
    },
  };
}

function watchQuotas({ config, log }: KafkaLogOptions) {
  const delays = new QuotaDelays();
  const delayedBy = () => {
    const share = delays.share(performance.now());
    if (share === null) return null;
    const text = `a quota delays client ${config.clientId}, ${Math.round(100 * share)} % of the time`;
    return `${text}: raise its quota for bytes or requests on the brokers`;
  };
  const onThrottled = (ms: number) => {
    if (delays.add(ms, performance.now())) log?.('warn', delayedBy() ?? '');
  };
  return { delayedBy, onThrottled };
}

/** Kafka cannot be reached while either part is. Only changes are reported. */
function connectionState(
  report: (error: Error | null) => void,
): (part: 'fetching' | 'membership', error: Error | null) => void {
  const lost = new Set<string>();
  return (part, error) => {
    const before = lost.size;
    if (error === null) lost.delete(part);
    else lost.add(part);
    if (before === 0 && error !== null) report(error);
    if (before > 0 && lost.size === 0) report(null);
  };
}
