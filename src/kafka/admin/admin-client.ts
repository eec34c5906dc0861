import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../ops/service-error.ts';
import { adminClient, disconnect, type KafkaConnection } from '../cluster/connection.ts';
import { explainFailure, isConnectionFailure, protocolErrorType } from '../cluster/failure.ts';
import { type Admin, errorFromCode, type TopicConfig } from '../cluster/kafkajs.ts';
import { isLeaderChange } from '../cluster/leader.ts';
import { type Backoff, retryWithBackoff } from '../cluster/retry.ts';

const LEADER_NOT_AVAILABLE = 5;
/** Leaders are elected for so long at most after a broker was lost. */
const ELECTION_MS_MAX = 25_000;
const ELECTION_CHECK_MS = 250;
const UNTIL_TOPICS_ARE_KNOWN: Backoff = { initialMs: 20, delayMsMax: 500, totalMsMax: 30_000 };

/** Makes topics, and waits until their leaders know them. Topics that another process makes meanwhile count as made. */
export async function makeTopics(admin: Admin, topics: readonly TopicConfig[]): Promise<void> {
  const backoff = UNTIL_TOPICS_ARE_KNOWN;
  const names = topics.map(({ topic }) => topic);
  await admin.createTopics({ topics: [...topics], waitForLeaders: false });
  await retryWithBackoff(() => requireLeaders(admin, names), { isRetryable: isNotKnownYet, backoff });
  // Metadata name a leader before the leader knows it. Until then a member that joins a group is removed and joins
  // again.
  for (const name of names) {
    await retryWithBackoff(() => admin.fetchTopicOffsets(name), { isRetryable: isLeaderChange, backoff });
  }
}

/** Rejects with LEADER_NOT_AVAILABLE while a partition has no leader. */
async function requireLeaders(admin: Admin, topics: readonly string[]): Promise<void> {
  const { topics: described } = await admin.fetchTopicMetadata({ topics: [...topics] });
  const isLeaderless = described.some(({ partitions }) => partitions.some(({ leader }) => leader < 0));
  if (isLeaderless) throw errorFromCode(LEADER_NOT_AVAILABLE);
}

/** A new topic is not known to every broker at once, and has no leaders yet. */
function isNotKnownYet(error: unknown): boolean {
  return ['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE'].includes(protocolErrorType(error));
}

/**
 * Where a broker is lost meanwhile the work is done again from its beginning, which may be on other brokers, until its
 * partitions have new leaders. Throws a ServiceError.
 */
export async function asAdmin<T>(
  connection: KafkaConnection,
  doing: string,
  work: (admin: Admin) => Promise<T>,
): Promise<T> {
  let lostMs: number | null = null;
  for (;;) {
    const { admin, destroy } = adminClient(connection);
    let connected = false;
    try {
      await admin.connect();
      connected = true;
      return await work(admin);
    } catch (error) {
      // Another broker answered. Connections to one that was given up are refused for some seconds.
      const isLoss = connected && isConnectionFailure(error);
      if (isLoss) lostMs ??= performance.now();
      const isElecting = lostMs !== null && performance.now() - lostMs < ELECTION_MS_MAX;
      if (!isElecting || !(isLoss || isLeaderChange(error))) {
        throw explainUnreached(explainFailure(error, doing), connection);
      }
    } finally {
      await disconnect(admin.disconnect(), destroy);
    }
    await sleep(ELECTION_CHECK_MS);
  }
}

/** Hints for errors that a wrong TLS or SASL configuration causes. */
const HINTS: readonly { readonly tls: boolean; readonly pattern: RegExp; readonly hint: string }[] = [
  { tls: false, pattern: /Closed connection/, hint: '. If the brokers require TLS, set KAFKA_TLS=true' },
  { tls: true, pattern: /Closed connection/, hint: '. If the brokers require a login, set KAFKA_SASL_MECHANISM' },
  { tls: true, pattern: /certificate/, hint: '. KAFKA_TLS_CA must name the authority of their certificates' },
  {
    tls: true,
    pattern: /wrong version|packet length|disconnected/,
    hint: '. If the brokers do not use TLS there, unset KAFKA_TLS',
  },
];

/** A failure of the first contact: the address may be wrong, or the brokers may not have started yet. */
export function explainUnreached(failure: ServiceError, { config }: KafkaConnection): ServiceError {
  if (/current SASL state/.test(failure.message)) {
    const text = `${failure.message}. If the brokers accept no login there, unset KAFKA_SASL_MECHANISM`;
    return new ServiceError(failure.code, text, { cause: failure });
  }
  if (failure.code !== 'broker-unavailable') return failure;
  const hint = HINTS.find(({ pattern, tls }) => pattern.test(failure.message) && tls === (config.tls !== null))?.hint;
  const text = `No Kafka could be reached at ${config.brokers.join(', ')}. ${failure.message}${hint ?? ''}`;
  return new ServiceError(failure.code, text, { retryable: true, cause: failure });
}
