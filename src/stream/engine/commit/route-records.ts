import type { InputRecord } from '../../log/log.ts';
import type { PendingCommit } from './pending-commit.ts';
import { loadMissingSchemas, recordFailed, type Scoring, whySkipped } from './score-records.ts';

/** Where records go that are keyed anew. */
export interface RecordRoute {
  readonly topic: string;
  readonly partitions: number;
  readonly partitionOf: (key: Buffer) => number;
}

export interface Routing {
  readonly pending: PendingCommit;
  readonly scoring: Pick<Scoring, 'decoder' | 'nowMs'>;
  readonly route: RecordRoute;
  /** As in `ScoringContext`. */
  readonly whyFailed?: (offset: number) => string | null;
}

/**
 * Passes records on under the id of their series, or of their group. Value, timestamp and headers stay as they are.
 * Records whose series cannot be read keep their keys: whoever scores them finds why they are dead letters.
 */
export async function routeRecords(
  records: readonly InputRecord[],
  { pending, scoring, route, whyFailed }: Routing,
): Promise<void> {
  await loadMissingSchemas(records, scoring);
  const nowMs = scoring.nowMs();
  for (const record of records) {
    const failure = whyFailed?.(record.offset) ?? null;
    if (record.skipped !== undefined) pending.deadLetter(record, whySkipped(record.skipped));
    else if (failure !== null) pending.deadLetter(record, recordFailed(failure));
    else {
      const decoded = scoring.decoder.decode(record.value, nowMs);
      const id = decoded.kind === 'observation' ? (decoded.group ?? decoded.series) : decoded.series;
      const key = id === null ? record.key : Buffer.from(id);
      const partition = key === null ? record.partition % route.partitions : route.partitionOf(key);
      pending.forward(record, { topic: route.topic, partition, key });
    }
  }
  pending.consumed(records);
}
