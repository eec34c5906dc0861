import type { Broker, Cluster } from '../protocol/protocol-request.ts';
import { isConnectionFailure, protocolErrorType } from './failure.ts';
import { type Backoff, type RetryOptions, retryWithBackoff } from './retry.ts';

export const GROUP_COORDINATOR = 0;
export const TRANSACTION_COORDINATOR = 1;

/** The broker does not coordinate this group or transaction any more, or not yet: look up the coordinator again. */
const COORDINATOR_CHANGES = new Set([
  'NOT_COORDINATOR_FOR_GROUP',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'GROUP_LOAD_IN_PROGRESS',
]);
/** The previous transaction of the producer is still being completed: the same coordinator is tried again. */
const TRANSACTION_IN_COMPLETION = 'CONCURRENT_TRANSACTIONS';
/**
 * The markers of a transaction that was decided wait for each leader. A broker that is frozen costs them the time-out
 * of its requests, 30 s by default. Nothing of the next transaction exists by then, so that none can time out.
 */
const UNTIL_COMPLETED: Backoff = { initialMs: 4, delayMsMax: 200, totalMsMax: 60_000 };
/** Longer than a cluster needs to replace a broker, shorter than the time-out of a transaction. */
const UNTIL_COORDINATED: Backoff = { initialMs: 4, delayMsMax: 200, totalMsMax: 25_000 };

/** True if the request had no effect because the coordinator moved or is starting. */
export function isCoordinatorChange(error: unknown): boolean {
  return COORDINATOR_CHANGES.has(protocolErrorType(error));
}

function isCoordinatorLost(error: unknown): boolean {
  return isCoordinatorChange(error) || isConnectionFailure(error);
}

/** Repeats what is refused while the previous transaction of the producer is being completed, for 60 s at most. */
export function retryWhileCompleted<T>(
  work: () => Promise<T>,
  { signal, onRetry }: Pick<RetryOptions, 'signal' | 'onRetry'>,
): Promise<T> {
  const isRetryable = (error: unknown) => protocolErrorType(error) === TRANSACTION_IN_COMPLETION;
  return retryWithBackoff(work, { isRetryable, backoff: UNTIL_COMPLETED, signal, onRetry });
}

interface CoordinatorOptions {
  readonly type: typeof GROUP_COORDINATOR | typeof TRANSACTION_COORDINATOR;
  /** Group id or transactional id. */
  readonly id: string;
  readonly signal?: AbortSignal | undefined;
  readonly onRetry?: RetryOptions['onRetry'];
}

/**
 * The broker that coordinates a consumer group or a transactional id. It is looked up once, and again when it moved.
 */
export class Coordinator {
  readonly #cluster: Cluster;
  readonly #options: CoordinatorOptions;
  #nodeId: number | null = null;

  constructor(cluster: Cluster, options: CoordinatorOptions) {
    this.#cluster = cluster;
    this.#options = options;
  }

  /**
   * Sends a request that may be repeated. Retries it after a look-up when the coordinator moved or the connection was
   * lost, for 25 s at most, and for 60 s while the previous transaction is being completed.
   */
  send<T>(request: (broker: Broker) => Promise<T>): Promise<T> {
    const attempt = async () => {
      try {
        return await request(await this.#find());
      } catch (error) {
        if (isCoordinatorLost(error)) this.#nodeId = null;
        throw error;
      }
    };
    const { signal, onRetry } = this.#options;
    const coordinated = () =>
      retryWithBackoff(attempt, { isRetryable: isCoordinatorLost, backoff: UNTIL_COORDINATED, signal, onRetry });
    return retryWhileCompleted(coordinated, { signal, onRetry });
  }

  async #find(): Promise<Broker> {
    if (this.#nodeId !== null) return this.#cluster.findBroker({ nodeId: this.#nodeId });
    const { id, type } = this.#options;
    const found = await this.#cluster.findGroupCoordinator({ groupId: id, coordinatorType: type });
    this.#nodeId = found.nodeId;
    return found;
  }
}
