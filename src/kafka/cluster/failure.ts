import { ServiceError } from '../../ops/service-error.ts';
import type { Permission } from '../protocol/protocol-request.ts';

const FENCED = new Set([
  'PRODUCER_FENCED',
  'INVALID_PRODUCER_EPOCH',
  'INVALID_PRODUCER_ID_MAPPING',
  'UNKNOWN_PRODUCER_ID',
]);
const TOO_LARGE = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']);
const INVALID_TIMESTAMP = 'INVALID_TIMESTAMP';
const OLD_TIMES =
  'Scores and events have the times of their observations: raise `message.timestamp.before.max.ms` of their topics, ' +
  'or set `timestamps: processing-time` under `output`';
const INVALID_REPLICATION_FACTOR = 'INVALID_REPLICATION_FACTOR';
const TOO_MANY_COPIES = 'a partition has at most as many copies as there are brokers';
const UNKNOWN_TOPIC = new Set(['UNKNOWN_TOPIC_OR_PARTITION', 'INVALID_TOPIC_EXCEPTION']);
const REFUSED = new RegExp(
  [
    'AUTHORIZATION_FAILED',
    'SASL_AUTHENTICATION_FAILED',
    'UNSUPPORTED_SASL',
    'UNSUPPORTED_VERSION',
    'SASLAuthentication',
    'DoesNotSupport',
    'INVALID_SESSION_TIMEOUT',
    'INVALID_TRANSACTION_TIMEOUT',
    'INVALID_GROUP_ID',
    'INCONSISTENT_GROUP_PROTOCOL',
    'INVALID_PARTITIONS',
    'POLICY_VIOLATION',
  ].join('|'),
);
const OUT_OF_REACH =
  /Connection|RequestTimeout|BrokerNotFound|NoBrokerAvailable|CoordinatorNotFound|Metadata|LockTimeout/;

/** Codes that Node gives to failures of a network connection: of the system, the resolver, sockets, TLS and fetch. */
const NETWORK_CODE =
  /^(?:E(?:CONN|HOST|NET|PIPE|TIMEDOUT|ADDRNOTAVAIL|AI_|NOTFOUND)|ERR_(?:SOCKET|STREAM|TLS|SSL)_|UND_ERR_)/;

/** A plain Error of kafkajs for a request to a broker whose connection is being opened at this moment. */
const NOT_YET_CONNECTED = 'Broker not connected';

/** kafkajs calls every failure of a login an authentication error, also a connection that was lost meanwhile. */
const LOST_AT_LOGIN = /Not connected|connection|timed out|timeout|socket|ECONN|EPIPE/i;

interface KafkaJsFailure extends Error {
  readonly type?: string;
  readonly code?: string | number;
  readonly retriable?: boolean;
  readonly errors?: readonly Error[];
  readonly needed?: Permission | [];
}

/**
 * Maps an error of kafkajs to a ServiceError: `fenced`, `record-too-large`, `record-refused`, `topic-mismatch`,
 * `configuration` (Kafka refuses this client), `broker-unavailable` (retryable) or `internal`. `doing` completes the
 * sentence "Kafka failed while ...".
 */
export function explainFailure(error: unknown, doing: string): ServiceError {
  if (error instanceof ServiceError) return error;
  const root = rootCause(error);
  if (root instanceof ServiceError) return root;
  const kind = root.type ?? '';
  const text = `Kafka failed while ${doing}: ${root.message}${remedyOf(kind, root.needed ?? [])}`;
  if (FENCED.has(kind)) return new ServiceError('fenced', text, { cause: error });
  if (TOO_LARGE.has(kind)) return new ServiceError('record-too-large', text, { cause: error });
  if (kind === INVALID_TIMESTAMP) return new ServiceError('record-refused', `${text}. ${OLD_TIMES}`, { cause: error });
  if (kind === INVALID_REPLICATION_FACTOR) {
    return new ServiceError('configuration', `${text}: ${TOO_MANY_COPIES}`, { cause: error });
  }
  if (UNKNOWN_TOPIC.has(kind)) {
    const hint = `${text}. The command \`topics\` creates missing topics`;
    return new ServiceError('topic-mismatch', hint, { retryable: true, cause: error });
  }
  if (isConnectionFailure(error))
    return new ServiceError('broker-unavailable', text, { retryable: true, cause: error });
  if (REFUSED.test(kind) || REFUSED.test(root.name)) return new ServiceError('configuration', text, { cause: error });
  if (kind !== '' && root.retriable === true) {
    return new ServiceError('broker-unavailable', text, { retryable: true, cause: error });
  }
  // Any other protocol error ends this session. The next session may succeed.
  return new ServiceError('internal', text, { retryable: kind !== '', cause: error });
}

/**
 * Whether a connection failed or was lost. It is unknown whether a request in flight had its effect. Other errors of
 * Node have a code, too: damaged bytes that cannot be inflated, a number that is out of range.
 */
export function isConnectionFailure(error: unknown): boolean {
  const root = rootCause(error);
  if (root instanceof ServiceError) return root.code === 'broker-unavailable';
  if (root.name === 'KafkaJSSASLAuthenticationError') return LOST_AT_LOGIN.test(root.message);
  if (root.message === NOT_YET_CONNECTED) return true;
  return OUT_OF_REACH.test(root.name) || NETWORK_CODE.test(String(root.code));
}

/** The remedy if the resource of the request is known. */
function remedyOf(kind: string, [operation, resource, name]: Permission | []): string {
  if (operation === undefined) return '';
  if (TOO_LARGE.has(kind)) return `. Raise max.message.bytes of ${resource} ${name}`;
  if (!kind.endsWith('AUTHORIZATION_FAILED')) return '';
  const flags = `--allow-principal User:NAME --operation ${operation} --${resource} ${name}`;
  return `. The user needs ${operation} on ${resource} ${name}: kafka-acls.sh --add ${flags}`;
}

/** The protocol's name of an error, e.g. `CONCURRENT_TRANSACTIONS`; an empty string for an error of another kind. */
export function protocolErrorType(error: unknown): string {
  return rootCause(error).type ?? '';
}

function rootCause(error: unknown): KafkaJsFailure {
  let root: KafkaJsFailure = error instanceof Error ? error : new Error(String(error));
  for (let cause = causeOf(root); cause instanceof Error && root.type === undefined; cause = causeOf(root))
    root = cause;
  return root;
}

/** The reason of the first of several topics that could not be made. */
function causeOf(error: KafkaJsFailure): unknown {
  return error.name === 'KafkaJSAggregateError' ? error.errors?.[0] : error.cause;
}
