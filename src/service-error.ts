/** Why the service could not do what was asked. Closed: callers match the code, never the message. */
export type ServiceErrorCode =
  | 'broker-unavailable'
  | 'topic-mismatch'
  | 'configuration'
  | 'model-invalid'
  | 'model-unknown'
  | 'overloaded';

/** A failure that has a name. `retryable` says that the same call may succeed later without anybody changing anything. */
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
