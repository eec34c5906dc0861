import { ServiceError } from '../../../service-error.ts';

const fenced = new Set([
  'PRODUCER_FENCED',
  'INVALID_PRODUCER_EPOCH',
  'INVALID_PRODUCER_ID_MAPPING',
  'UNKNOWN_PRODUCER_ID',
]);
const tooLarge = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']);
const unknownTopic = new Set(['UNKNOWN_TOPIC_OR_PARTITION', 'INVALID_TOPIC_EXCEPTION']);
const refused =
  /AUTHORIZATION_FAILED|SASL_AUTHENTICATION_FAILED|UNSUPPORTED_SASL|UNSUPPORTED_VERSION|SASLAuthentication|DoesNotSupport|INVALID_SESSION_TIMEOUT|INVALID_GROUP_ID|INCONSISTENT_GROUP_PROTOCOL/;
const outOfReach =
  /Connection|RequestTimeout|BrokerNotFound|NoBrokerAvailable|CoordinatorNotFound|Metadata|LockTimeout/;

interface KafkaJsFailure extends Error {
  readonly type?: string;
  readonly code?: string | number;
  readonly retriable?: boolean;
}

/**
 * What went wrong, in our words: `fenced`, `record-too-large`, `topic-mismatch`, `configuration` (Kafka refuses this client),
 * `broker-unavailable` (retryable) or `internal`. `doing` completes "Kafka failed while ...".
 */
export function explainFailure(error: unknown, doing: string): ServiceError {
  if (error instanceof ServiceError) return error;
  const root = rootCause(error);
  const text = `Kafka failed while ${doing}: ${root.message}`;
  const kind = root.type ?? '';
  if (fenced.has(kind)) return new ServiceError('fenced', text, { cause: error });
  if (tooLarge.has(kind)) return new ServiceError('record-too-large', text, { cause: error });
  if (unknownTopic.has(kind)) {
    const hint = `${text}. The command \`topics\` makes the topics that are missing`;
    return new ServiceError('topic-mismatch', hint, { retryable: true, cause: error });
  }
  if (refused.test(kind) || refused.test(root.name)) return new ServiceError('configuration', text, { cause: error });
  if (outOfReach.test(root.name) || typeof root.code === 'string' || (kind !== '' && root.retriable === true)) {
    return new ServiceError('broker-unavailable', text, { retryable: true, cause: error });
  }
  // Any other word from a broker concerns a session that is dead now, not the next one.
  return new ServiceError('internal', text, { retryable: kind !== '', cause: error });
}

/** The protocol's name of a broker's error, e.g. `CONCURRENT_TRANSACTIONS`; an empty string for anything else. */
export function protocolErrorType(error: unknown): string {
  return rootCause(error).type ?? '';
}

function rootCause(error: unknown): KafkaJsFailure {
  let root = error instanceof Error ? error : new Error(String(error));
  while (root.cause instanceof Error && (root as KafkaJsFailure).type === undefined) root = root.cause;
  return root;
}
