/** Codes of failures. The list is closed: match the code, never the message. */
type ServiceErrorCode =
  /** Invalid or contradictory settings. */
  | 'configuration'
  /** A newer version wrote the state or the database. */
  | 'kept-by-newer'
  /** A required external program is not installed. */
  | 'missing-tool'
  | 'broker-unavailable'
  /** A newer owner fenced this one. */
  | 'fenced'
  /** Topics are missing, or their partition counts differ. */
  | 'topic-mismatch'
  /** The broker rejects a record by its size; a retry does not help. */
  | 'record-too-large'
  /** The broker rejects a record by its timestamp; a retry does not help. */
  | 'record-refused'
  /** The schema registry is unreachable or refuses this client. */
  | 'registry-unavailable'
  /** The registry has an incompatible schema under this subject, or rejects ours. */
  | 'schema-refused'
  /** A record was decoded before its schema was loaded. */
  | 'schema-not-loaded'
  /** A model folder is damaged or contradicts its manifest. */
  | 'model-invalid'
  | 'model-unknown'
  /** The database is unreachable, or its disk is full. */
  | 'store-unavailable'
  /** The history is starting, or its database is unavailable. */
  | 'history-unavailable'
  | 'overloaded'
  /** A component ended unexpectedly. */
  | 'internal';

/**
 * A failure with a code, and a message of one sentence for the operator. `retryable`: the same call may succeed later
 * without any change.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ServiceErrorCode;
  readonly retryable: boolean;

  constructor(code: ServiceErrorCode, message: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? false;
  }
}
