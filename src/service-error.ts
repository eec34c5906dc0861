/** Why the service could not do something, as a closed set: match the code, never the message. */
export type ServiceErrorCode =
  | 'broker-unavailable'
  | 'fenced'
  | 'topic-mismatch'
  | 'record-too-large'
  | 'configuration'
  | 'missing-tool'
  | 'internal';

/** An expected kind of failure, in one sentence for the operator. `retryable`: the same call may succeed later. */
export class ServiceError extends Error {
  readonly code: ServiceErrorCode;
  readonly retryable: boolean;

  constructor(code: ServiceErrorCode, message: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'ServiceError';
    this.code = code;
    this.retryable = options.retryable ?? false;
  }
}
