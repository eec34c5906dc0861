import type { InputRecord } from '../../log/log.ts';
import type { PendingCommit } from './pending-commit.ts';
import { type RecordRoute, routeRecords } from './route-records.ts';
import { type ScoringContext, scoreRecords } from './score-records.ts';

/** What becomes of the records of a partition. */
export interface RecordTaking {
  /** Where they go in place of being scored; null: nowhere. */
  readonly route: RecordRoute | null;
}

/**
 * Records that are made of those with many observations, in a transaction, and the bytes of these that are split at
 * once: both but for one more record.
 */
export const [SPLIT_OUTPUTS_MAX, SPLIT_BYTES_MAX] = [50_000, 256 * 1024];

/** Bytes of records that may be split next; 0 where the transaction is full. */
export function splitBytesMax(bytesLeft: number, { outputCount }: PendingCommit): number {
  return outputCount < SPLIT_OUTPUTS_MAX ? Math.min(bytesLeft, SPLIT_BYTES_MAX) : 0;
}

/** Scores records into `pending`, or passes them on. It rejects as `scoreRecords` does. */
export async function takeRecords(
  records: readonly InputRecord[],
  { route }: RecordTaking,
  context: ScoringContext,
): Promise<void> {
  if (route === null) await scoreRecords(records, context);
  else await routeRecords(records, { ...context, route });
}
