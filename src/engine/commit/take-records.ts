import type { InputRecord } from '../log/log.ts';
import type { PartitionState } from '../state/partition-state.ts';
import type { PendingCommit } from './pending-commit.ts';
import { type RecordRoute, routeRecords } from './route-records.ts';
import {
  type DecodedRecords,
  type DecodingContext,
  divideDecoded,
  scoreDecoded,
  toObservations,
} from './score-records.ts';

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
  /** null: none of them waits for a forecast that is on its way. */
  waiting(): DelayedRecords | null;
  /** Scores them, or passes them on. Rejects as `scoreRecords` does. */
  takeInto(pending: PendingCommit, signal: AbortSignal): Promise<void>;
}

export interface DelayedRecords {
  /** Those before the first that waits; null: it is the first of all. */
  readonly ready: NextRecords | null;
  readonly rest: NextRecords;
  /** Settles when the forecast is there that the first of the rest waits for. */
  readonly forecast: Promise<unknown>;
}

/** Rejects when the registry fails. */
export async function readNext(
  records: readonly InputRecord[],
  { route }: RecordTaking,
  context: DecodingContext,
): Promise<NextRecords> {
  if (route === null) return toScore(await toObservations(records, context), context.state);
  const takeInto = (pending: PendingCommit) => routeRecords(records, { ...context, route, pending });
  return { ...placeOf(records), waiting: () => null, takeInto };
}

function toScore(decoded: DecodedRecords, state: PartitionState): NextRecords {
  const { records, observations } = decoded;
  const next: NextRecords = {
    ...placeOf(records),
    waiting() {
      if (!state.awaitsForecasts) return null;
      for (const observation of observations) {
        const forecast = state.forecastFor(observation);
        if (forecast === null) continue;
        const count = records.indexOf(observation.record);
        if (count === 0) return { ready: null, rest: next, forecast };
        const [ready, rest] = divideDecoded(decoded, count);
        return { ready: toScore(ready, state), rest: toScore(rest, state), forecast };
      }
      return null;
    },
    takeInto: (pending, signal) => scoreDecoded(decoded, { state, pending, signal }),
  };
  return next;
}

function placeOf(records: readonly InputRecord[]): Pick<NextRecords, 'count' | 'nextOffset'> {
  return { count: records.length, nextOffset: (records.at(-1)?.offset ?? 0) + 1 };
}
