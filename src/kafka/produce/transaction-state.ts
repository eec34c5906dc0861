import { errorFromCode } from '../cluster/kafkajs.ts';
import { array, first, i16, i32, i64, string } from '../protocol/protocol-fields.ts';
import { type Broker, sendRequest } from '../protocol/protocol-request.ts';

/** The newest transaction of a transactional id, as its coordinator reports it. */
export interface TransactionState {
  readonly state: string | null;
  readonly producerEpoch: number;
}

/** Kafka 3.0 and later. */
const DESCRIBE_TRANSACTIONS = {
  name: 'DescribeTransactions',
  key: 65,
  versions: [0],
  compactSince: 0,
  request: { transactionalIds: array(string) },
  answer: {
    clientSideThrottleTime: i32,
    newest: first({
      errorCode: i16,
      transactionalId: string,
      state: string,
      timeoutMs: i32,
      startMs: i64,
      producerId: i64,
      producerEpoch: i16,
    }),
  },
};
const TRANSACTIONAL_ID_NOT_FOUND = 105;
const DECIDED_TO_COMMIT: ReadonlySet<string | null> = new Set(['PrepareCommit', 'CompleteCommit']);

/**
 * The state of a transactional id; null if the coordinator does not know the id, or is older than Kafka 3.0. Needs
 * the permission to describe the id, which that of writing with it implies.
 */
export async function fetchTransactionState(
  coordinator: Broker,
  transactionalId: string,
): Promise<TransactionState | null> {
  if (coordinator.versions?.[DESCRIBE_TRANSACTIONS.key] === undefined) return null;
  const { newest } = await sendRequest(coordinator, DESCRIBE_TRANSACTIONS, { transactionalIds: [transactionalId] });
  if (newest === null || newest.errorCode === TRANSACTIONAL_ID_NOT_FOUND) return null;
  if (newest.errorCode !== 0) throw errorFromCode(newest.errorCode);
  return newest;
}

/** A fence, as the producer that made it knows it. */
interface Fence {
  /** The epoch that it gave. */
  readonly epoch: number;
  /** Requests without an answer: each of them may have given an epoch as well. */
  readonly unanswered: number;
}

/**
 * Whether the last transaction before a fence was to be committed; `before` was read before the fence. Each fence and
 * each aborted transaction raises the epoch: when it rose by more than our fences can have raised it, there was a
 * transaction in between, which the fence aborted.
 */
export function wasDecidedToCommit(before: TransactionState | null, { epoch, unanswered }: Fence): boolean {
  if (before === null || !DECIDED_TO_COMMIT.has(before.state)) return false;
  const raised = epoch - before.producerEpoch;
  return raised >= 1 && raised <= 1 + unanswered;
}
