import assert from 'node:assert/strict';
import type { ForecastBatch } from '../forecast/forecaster.ts';

/** The rows of one call. Requests of one `key` may share a run of the graph. */
export interface QueuedRequest {
  readonly key: string;
  readonly batch: ForecastBatch;
}

/** Rows `firstRow` .. `firstRow + rows - 1` of a request. */
export interface Segment<R extends QueuedRequest> {
  readonly request: R;
  readonly firstRow: number;
  readonly rows: number;
}

export function rowsOf(segments: readonly Segment<QueuedRequest>[]): number {
  return segments.reduce((sum, segment) => sum + segment.rows, 0);
}

interface Line<R extends QueuedRequest> {
  readonly segments: Segment<R>[];
  /** Rows of a full run. */
  readonly full: number;
  rows: number;
}

/**
 * The queue of rows: one line for each key. Lines take turns (round robin), and so do the requests of a line. Requests
 * of a line are merged and cut into runs. The remainder of a cut request goes to the end of its line, so that a request
 * of thousands of rows delays others by one run at most. A group has a line of its own and is never cut.
 */
export class RunQueue<R extends QueuedRequest> {
  readonly rowsMax: number;
  readonly #fullRun: (batch: ForecastBatch) => number;
  /** In the order of turns. */
  readonly #lines = new Map<string, Line<R>>();
  #rows = 0;

  /** @param fullRun the rows of a full run of such batches */
  constructor(rowsMax: number, fullRun: (batch: ForecastBatch) => number) {
    this.rowsMax = rowsMax;
    this.#fullRun = fullRun;
  }

  get rows(): number {
    return this.#rows;
  }

  /** False, without queueing anything, when the rows do not fit. */
  add(request: R): boolean {
    const { rows } = request.batch;
    assert(rows > 0, 'a request has rows');
    if (this.#rows + rows > this.rowsMax) return false;
    let line = this.#lines.get(request.key);
    if (line === undefined) {
      line = { segments: [], full: this.#fullRun(request.batch), rows: 0 };
      this.#lines.set(request.key, line);
    }
    line.segments.push({ request, firstRow: 0, rows });
    line.rows += rows;
    this.#rows += rows;
    return true;
  }

  /** Removes every request, and returns them. */
  clear(): R[] {
    const requests = [...this.#lines.values()].flatMap((line) => line.segments.map((segment) => segment.request));
    this.#lines.clear();
    this.#rows = 0;
    return requests;
  }

  /** Removes the queued rows of a request. */
  remove(request: R): void {
    const line = this.#lines.get(request.key);
    const index = line?.segments.findIndex((segment) => segment.request === request) ?? -1;
    if (line === undefined || index < 0) return;
    const [segment] = line.segments.splice(index, 1);
    this.#shrink(request.key, line, segment.rows);
  }

  /** Rows of the next line; 0 for an empty queue. */
  get rowsNext(): number {
    for (const { rows } of this.#lines.values()) return rows;
    return 0;
  }

  /** Whether any line has the rows of a full run. */
  hasFullRun(): boolean {
    for (const { rows, full } of this.#lines.values()) if (rows >= full) return true;
    return false;
  }

  /** Takes a run of at most `rowsMax` rows from the next line. The line goes to the end of the turns. */
  take(rowsMax = Number.POSITIVE_INFINITY): Segment<R>[] {
    for (const [key, line] of this.#lines) {
      const whole = line.segments[0].request.batch.isGroup === true;
      const taken = cut(line.segments, whole ? line.rows : Math.min(rowsMax, line.full));
      this.#lines.delete(key);
      this.#lines.set(key, line);
      this.#shrink(key, line, rowsOf(taken));
      return taken;
    }
    return [];
  }

  #shrink(key: string, line: Line<R>, rows: number): void {
    line.rows -= rows;
    this.#rows -= rows;
    if (line.rows === 0) this.#lines.delete(key);
  }
}

/** Removes up to `rowsMax` rows from the front. The remainder of a cut segment goes to the end. */
function cut<R extends QueuedRequest>(segments: Segment<R>[], rowsMax: number): Segment<R>[] {
  let left = rowsMax;
  let whole = 0;
  while (whole < segments.length && segments[whole].rows <= left) left -= segments[whole++].rows;
  const taken = segments.splice(0, whole);
  if (left === 0) return taken;
  const split = segments.shift();
  if (split === undefined) return taken;
  const { request, firstRow, rows } = split;
  taken.push({ request, firstRow, rows: left });
  segments.push({ request, firstRow: firstRow + left, rows: rows - left });
  return taken;
}
