import { Metadata, type ServerInterceptingCallInterface, type StatusObject, status } from '@grpc/grpc-js';
import { retryStatus, rpcCodeOf } from '../wire/otlp-answers.ts';
import { problemOf } from '../wire/problem.ts';

/** Statuses of HTTP that metrics and logs count a call by, so that one rule watches both listeners. */
const HTTP_STATUSES: Readonly<Partial<Record<status, number>>> = {
  [status.OK]: 200,
  [status.CANCELLED]: 499,
  [status.INVALID_ARGUMENT]: 400,
  [status.DEADLINE_EXCEEDED]: 504,
  [status.PERMISSION_DENIED]: 403,
  [status.RESOURCE_EXHAUSTED]: 413,
  [status.UNIMPLEMENTED]: 404,
  [status.UNAVAILABLE]: 503,
  [status.UNAUTHENTICATED]: 401,
};

/** Until a sender whose body arrived too slowly repeats it. */
const RETRY_AFTER_S = 2;

/** The status of a failed call. Where a retry can help it has RetryInfo, without which senders drop the points. */
export function statusOf(error: unknown): Pick<StatusObject, 'code' | 'details' | 'metadata'> {
  const { status: httpStatus, message, headers } = problemOf(error);
  const code: status = rpcCodeOf(httpStatus);
  const metadata = new Metadata();
  if (code === status.UNAVAILABLE || code === status.RESOURCE_EXHAUSTED) {
    const seconds = Number(headers['retry-after'] ?? RETRY_AFTER_S);
    metadata.set('grpc-status-details-bin', retryStatus(code, message, seconds));
  }
  return { code, details: message, metadata };
}

/** RESOURCE_EXHAUSTED without RetryInfo is a message that is too large. */
export function httpStatusOf({ code, metadata }: Parameters<ServerInterceptingCallInterface['sendStatus']>[0]): number {
  const retries = (metadata?.get('grpc-status-details-bin').length ?? 0) > 0;
  return retries ? 503 : (HTTP_STATUSES[code] ?? 500);
}
