/** What a caller may tell apart. Match the code, never the message. */
export type ServiceErrorCode =
  /** Kafka is out of reach. */
  | 'broker-unavailable'
  /** The schema registry is out of reach or refuses this client. */
  | 'registry-unavailable'
  /** The registry knows an incompatible schema under this subject, or does not accept ours. */
  | 'schema-refused'
  /** A record was decoded before the schema it names was loaded. */
  | 'schema-not-loaded';

/** A failure of something the service stands on. `retryable`: the same call may succeed later without anyone changing anything. */
export class ServiceError extends Error {
  readonly code: ServiceErrorCode;
  readonly retryable: boolean;

  constructor(code: ServiceErrorCode, message: string, options: { retryable: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = 'ServiceError';
    this.code = code;
    this.retryable = options.retryable;
  }
}
