import type { InputRecord } from '../../log/log.ts';
import type { PendingCommit } from './pending-commit.ts';
import { type RecordRoute, routeRecords } from './route-records.ts';
import { type DecodingContext, scoreDecoded, toObservations } from './score-records.ts';

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

/** Records that are taken next. So far they have changed nothing. */
export interface NextRecords {
  readonly count: number;
  readonly nextOffset: number;
  /** Settles when the forecasts are there that they would wait for, of those that are on their way; null: none is. */
  forecasts(): Promise<unknown> | null;
  /** Scores them, or passes them on. Rejects as `scoreRecords` does. */
  takeInto(pending: PendingCommit, signal: AbortSignal): Promise<void>;
}

/** Rejects when the registry fails. */
export async function readNext(
  records: readonly InputRecord[],
  { route }: RecordTaking,
  context: DecodingContext,
): Promise<NextRecords> {
  const [count, nextOffset] = [records.length, (records.at(-1)?.offset ?? 0) + 1];
  if (route !== null) {
    const takeInto = (pending: PendingCommit) => routeRecords(records, { ...context, route, pending });
    return { count, nextOffset, forecasts: () => null, takeInto };
  }
  const { state } = context;
  const decoded = await toObservations(records, context);
  return {
    count,
    nextOffset,
    forecasts: () => state.forecastsFor(decoded.observations),
    takeInto: (pending, signal) => scoreDecoded(decoded, { state, pending, signal }),
  };
}
