import { linkCluster } from '../../../src/kafka/cluster/connection.ts';
import { Coordinator, TRANSACTION_COORDINATOR } from '../../../src/kafka/cluster/coordinator.ts';
import { fetchTransactionState } from '../../../src/kafka/produce/transaction-state.ts';
import type { BrokerCluster } from './broker-cluster.ts';

/** The states in which a transaction is decided, and its markers are not written yet. */
const COMPLETING = new Set(['PrepareCommit', 'PrepareAbort']);
const ASK_MS_MAX = 1_000;

/**
 * Which of these transactional ids can begin no transaction, because the last one waits for its markers. A coordinator
 * that had sent them to a broker which froze waits for that broker, also when its partitions have other leaders.
 */
export async function waitingForMarkers(
  { direct: { config } }: BrokerCluster,
  transactionalIds: readonly string[],
  away: ReadonlySet<number>,
): Promise<readonly string[]> {
  const brokers = config.brokers.filter((_, at) => !away.has(at + 1));
  const link = await linkCluster({ config: { ...config, brokers } }, []).catch(() => null);
  if (link === null) return [];
  const signal = AbortSignal.timeout(ASK_MS_MAX);
  const isWaiting = async (id: string) => {
    const coordinator = new Coordinator(link.cluster, { type: TRANSACTION_COORDINATOR, id, signal });
    const found = await coordinator.send((broker) => fetchTransactionState(broker, id)).catch(() => null);
    return found !== null && found.state !== null && COMPLETING.has(found.state);
  };
  const areWaiting = await Promise.all(transactionalIds.map(isWaiting));
  link.destroy();
  return transactionalIds.filter((_, at) => areWaiting[at]);
}
