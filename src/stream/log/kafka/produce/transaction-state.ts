import { CompactReader, compactString, NO_TAGS, ONE } from '../cluster/compact-encoding.ts';
import { type Broker, errorFromCode } from '../cluster/kafkajs-internals.ts';

/** What the coordinator of a transactional id knows of its newest transaction. */
export interface TransactionState {
  readonly state: string;
  readonly producerEpoch: number;
  /** kafkajs delays requests by this field when the broker throttles. */
  readonly clientSideThrottleTime: number;
}

const DESCRIBE_TRANSACTIONS = 65;
const TRANSACTIONAL_ID_NOT_FOUND = 105;
const DECIDED_TO_COMMIT = new Set(['PrepareCommit', 'CompleteCommit']);

/**
 * The state of a transactional id; null where the coordinator does not know the id, or is older than Kafka 3.0. Needs
 * the permission to describe the id, which that of writing with it implies.
 */
export async function fetchTransactionState(
  coordinator: Broker,
  transactionalId: string,
): Promise<TransactionState | null> {
  if (coordinator.versions?.[DESCRIBE_TRANSACTIONS] === undefined) return null;
  const body = Buffer.concat([NO_TAGS, ONE, compactString(transactionalId), NO_TAGS]);
  const found = await coordinator.connectionPool.send<TransactionState>({
    request: {
      apiKey: DESCRIBE_TRANSACTIONS,
      apiVersion: 0,
      apiName: 'DescribeTransactions',
      encode: () => Promise.resolve({ buf: body, buffer: body }),
    },
    response: { decode: async (payload) => decodeResponse(payload), parse: async (state) => state },
  });
  return found.state === '' ? null : found;
}

/**
 * throttleMs i32 | [errorCode i16 | transactionalId | state | timeoutMs i32 | startMs i64 | producerId i64 |
 * producerEpoch i16 | ...]
 */
function decodeResponse(payload: Buffer): TransactionState {
  const reader = new CompactReader(payload);
  const clientSideThrottleTime = reader.i32();
  if (reader.count() < 1) return { state: '', producerEpoch: -1, clientSideThrottleTime };
  const errorCode = reader.i16();
  if (errorCode !== 0 && errorCode !== TRANSACTIONAL_ID_NOT_FOUND) throw errorFromCode(errorCode);
  reader.text();
  const state = reader.text();
  reader.i32();
  reader.i64();
  reader.i64();
  return { state: errorCode === 0 ? state : '', producerEpoch: reader.i16(), clientSideThrottleTime };
}

/**
 * Whether the last transaction before a fence was to be committed. `before` was read before the fence, and
 * `fencedEpoch` is the epoch that the fence gave. Each fence and each aborted transaction raises the epoch: when it is
 * not the next one, there was a transaction in between, which the fence aborted.
 */
export function wasDecidedToCommit(before: TransactionState | null, fencedEpoch: number): boolean {
  return before !== null && DECIDED_TO_COMMIT.has(before.state) && fencedEpoch === before.producerEpoch + 1;
}
