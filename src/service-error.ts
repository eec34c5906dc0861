/** What a caller may tell apart. Closed: match the code, never the message. */
export type ServiceErrorCode =
  /** Settings that contradict themselves or each other. */
  | 'configuration'
  /** A program the service starts is not installed. */
  | 'missing-tool'
  /** Kafka is out of reach. */
  | 'broker-unavailable'
  /** A later owner took the partition over. */
  | 'fenced'
  /** Topics are missing, or their partition counts do not fit together. */
  | 'topic-mismatch'
  /** A record that the broker does not take, however often it is sent. */
  | 'record-too-large'
  /** The schema registry is out of reach or refuses this client. */
  | 'registry-unavailable'
  /** The registry knows an incompatible schema under this subject, or does not accept ours. */
  | 'schema-refused'
  /** A record was decoded before the schema it names was loaded. */
  | 'schema-not-loaded'
  /** A model folder that is damaged or does not match its manifest. */
  | 'model-invalid'
  | 'model-unknown'
  /** The database of keys, models and jobs is out of reach, or its disk is full. */
  | 'store-unavailable'
  /** A queue is full. */
  | 'overloaded'
  /** A part ended that must not end. */
  | 'internal';

/** A failure that has a name, in one sentence for the operator. `retryable`: the same call may succeed later without anyone changing anything. */
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
