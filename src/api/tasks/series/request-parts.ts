import { BATCH_ROWS_MAX } from '../../../forecasting/folds.ts';

/** Series from `start` to before `end`. */
export interface RequestPart {
  readonly start: number;
  readonly end: number;
}

/**
 * Values of a part. What is done with them in one turn of the event loop takes some 20 ms, and their memory is free
 * when the part is done.
 */
const PART_VALUES = 262_144;
/** One is forecast while another one is planned or concluded. */
const PARTS_AT_ONCE = 2;

/** Consecutive series with at most so many values, or one of them. */
export function requestParts(series: readonly ArrayLike<number>[], valuesMax = PART_VALUES): RequestPart[] {
  const parts: RequestPart[] = [];
  let start = 0;
  let values = 0;
  for (const [i, { length }] of series.entries()) {
    if (i > start && values + length > valuesMax) {
      parts.push({ start, end: i });
      [start, values] = [i, 0];
    }
    values += length;
  }
  if (start < series.length) parts.push({ start, end: series.length });
  return parts;
}

/**
 * The results of every part, in the order of the series. Rejects when a part does.
 * @param work receives how many rows of a part may be in flight: of all parts together no more than of one alone, so
 *   that other requests wait no longer
 */
export async function inParts<R>(
  series: readonly ArrayLike<number>[],
  work: (part: RequestPart, rowsInFlightMax: number | undefined) => Promise<readonly R[]>,
): Promise<R[]> {
  const results: R[] = [];
  const running: Promise<readonly R[]>[] = [];
  const acceptFirst = async () => {
    for (const result of await running.shift()!) results.push(result);
  };
  const parts = requestParts(series);
  const rowsInFlightMax = parts.length > 1 ? BATCH_ROWS_MAX : undefined;
  for (const part of parts) {
    if (running.length === PARTS_AT_ONCE) await acceptFirst();
    const made = work(part, rowsInFlightMax);
    // A rejection is handled when the part is accepted. It must not count as unhandled before.
    made.catch(() => {});
    running.push(made);
  }
  while (running.length > 0) await acceptFirst();
  return results;
}
