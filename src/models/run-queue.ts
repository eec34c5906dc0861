import assert from 'node:assert/strict';
import type { ForecastBatch } from '../forecasting/forecaster.ts';

/** The rows of one call. Requests of one `key` may share a run of the graph. */
export interface QueuedRequest {
  readonly key: string;
  /** For whom it is; owners take turns. Requests without one have the same. */
  readonly owner?: string;
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
  readonly segments: Map<string, Segment<R>[]>;
  /** Rows of a full run. */
  readonly full: number;
  readonly isGroup: boolean;
  rows: number;
}

/** An owner within this share of the queue is accepted even when others have filled it. */
const SMALL_SHARE = 0.25;

/**
 * The queue of rows. Owners take turns (round robin), and so do the lines of an owner: one line for each key. A run is
 * filled from the line of the owner whose turn it is, first with the rows of this owner, then with those of others. The
 * remainder of a cut request goes to the end of its line, unless it fits into the next run: then it is the first there.
 * So neither a request of thousands of rows nor an owner of hundreds of requests delays others by more than two runs,
 * and small requests keep their order. A group has a line of its own and is never cut.
 */
export class RunQueue<R extends QueuedRequest> {
  readonly rowsMax: number;
  readonly #fullRun: (batch: ForecastBatch) => number;
  readonly #lines = new Map<string, Line<R>>();
  /** Owners in the order of turns; of each its rows by line, in the order of turns. */
  readonly #owners = new Map<string, Map<string, number>>();
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
    const { rows, isGroup = false } = request.batch;
    const { key, owner = '' } = request;
    assert(rows > 0, 'a request has rows');
    if (!this.#fits(owner, rows)) return false;
    let line = this.#lines.get(key);
    if (line === undefined) {
      line = { segments: new Map(), full: this.#fullRun(request.batch), isGroup, rows: 0 };
      this.#lines.set(key, line);
    }
    const segments = line.segments.get(owner) ?? [];
    line.segments.set(owner, segments);
    segments.push({ request, firstRow: 0, rows });
    this.#count(key, owner, rows);
    return true;
  }

  /** Removes every request, and returns them. */
  clear(): R[] {
    const segments = [...this.#lines.values()].flatMap((line) => [...line.segments.values()].flat());
    this.#lines.clear();
    this.#owners.clear();
    this.#rows = 0;
    return segments.map(({ request }) => request);
  }

  /** Removes the queued rows of a request. */
  remove(request: R): void {
    const { key, owner = '' } = request;
    const segments = this.#lines.get(key)?.segments.get(owner) ?? [];
    const index = segments.findIndex((segment) => segment.request === request);
    if (index < 0) return;
    const [segment] = segments.splice(index, 1);
    this.#count(key, owner, -segment.rows);
  }

  /** Key of the next line; null for an empty queue. */
  get keyNext(): string | null {
    return this.#next()?.key ?? null;
  }

  /** Rows of the next line; 0 for an empty queue. */
  get rowsNext(): number {
    return this.#next()?.line.rows ?? 0;
  }

  /** Rows of a full run of the next line; 0 for an empty queue. */
  get fullNext(): number {
    return this.#next()?.line.full ?? 0;
  }

  get fullRuns(): number {
    let runs = 0;
    for (const { rows, full } of this.#lines.values()) runs += rows / full;
    return runs;
  }

  /** Owners with rows in the queue. */
  get owners(): number {
    return this.#owners.size;
  }

  /** True if any line has the rows of a full run. */
  hasFullRun(): boolean {
    for (const { rows, full } of this.#lines.values()) if (rows >= full) return true;
    return false;
  }

  /** Pops a run of at most `rowsMax` rows from the next line. Its owner, and its line, go to the end of the turns. */
  pop(rowsMax = Number.POSITIVE_INFINITY): Segment<R>[] {
    const next = this.#next();
    if (next === null) return [];
    const { owner, key, line } = next;
    let left = line.isGroup ? line.rows : Math.min(rowsMax, line.full);
    const others = [...line.segments.keys()].filter((other) => other !== owner);
    const popped: Segment<R>[] = [];
    for (const each of [owner, ...others]) {
      if (left === 0) break;
      const own = cut(line.segments.get(each) ?? [], left, line.full);
      const rows = rowsOf(own);
      left -= rows;
      popped.push(...own);
      this.#count(key, each, -rows);
    }
    moveToEnd(this.#owners, owner);
    moveToEnd(this.#owners.get(owner), key);
    return popped;
  }

  #next(): { readonly owner: string; readonly key: string; readonly line: Line<R> } | null {
    for (const [owner, keys] of this.#owners) {
      for (const key of keys.keys()) {
        const line = this.#lines.get(key);
        assert(line !== undefined, 'an owner has rows in its lines');
        return { owner, key, line };
      }
    }
    return null;
  }

  #fits(owner: string, rows: number): boolean {
    if (this.#rows + rows <= this.rowsMax) return true;
    const own = [...(this.#owners.get(owner)?.values() ?? [])].reduce((sum, queued) => sum + queued, rows);
    return own <= this.rowsMax * SMALL_SHARE && this.#rows + rows <= 2 * this.rowsMax;
  }

  /** Adds rows of an owner to a line, or removes them. What is empty is removed. */
  #count(key: string, owner: string, rows: number): void {
    const line = this.#lines.get(key);
    assert(line !== undefined, 'rows are counted in their line');
    const keys = this.#owners.get(owner) ?? new Map<string, number>();
    const own = (keys.get(key) ?? 0) + rows;
    if (own > 0) {
      keys.set(key, own);
      this.#owners.set(owner, keys);
    } else {
      keys.delete(key);
      line.segments.delete(owner);
      if (keys.size === 0) this.#owners.delete(owner);
    }
    this.#rows += rows;
    line.rows += rows;
    if (line.rows === 0) this.#lines.delete(key);
  }
}

function moveToEnd<V>(turns: Map<string, V> | undefined, name: string): void {
  const value = turns?.get(name);
  if (turns === undefined || value === undefined) return;
  turns.delete(name);
  turns.set(name, value);
}

/** Removes up to `rowsMax` rows from the front. The remainder of a cut segment goes to the end if it fills a run. */
function cut<R extends QueuedRequest>(segments: Segment<R>[], rowsMax: number, full: number): Segment<R>[] {
  let left = rowsMax;
  let whole = 0;
  while (whole < segments.length && segments[whole].rows <= left) left -= segments[whole++].rows;
  const popped = segments.splice(0, whole);
  if (left === 0) return popped;
  const split = segments.shift();
  if (split === undefined) return popped;
  const { request, firstRow, rows } = split;
  popped.push({ request, firstRow, rows: left });
  const rest = { request, firstRow: firstRow + left, rows: rows - left };
  if (rest.rows < full) segments.unshift(rest);
  else segments.push(rest);
  return popped;
}
