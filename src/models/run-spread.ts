import { type QueuedRequest, type RunQueue, rowsOf, type Segment } from './run-queue.ts';

/** Fixed cost of a run, in values: half a millisecond for its five hundred operators. */
const RUN_OVERHEAD_VALUES = 500;

type Run<R extends QueuedRequest> = readonly Segment<R>[];

/**
 * Takes all queued rows, in runs for so many idle threads: a small request has runs of several context lengths, and no
 * thread waits between them. The longest run goes first, each to the thread that has least to do.
 * @param rowsMin no run is cut finer
 */
export function spreadRuns<R extends QueuedRequest>(queue: RunQueue<R>, threads: number, rowsMin: number): Run<R>[][] {
  const runs: Run<R>[] = [];
  const shares = new Map<string, number>();
  for (let key = queue.keyNext; key !== null; key = queue.keyNext) {
    const share = shares.get(key) ?? Math.max(rowsMin, Math.ceil(queue.rowsNext / threads));
    shares.set(key, share);
    runs.push(queue.pop(share));
  }
  const costOf = (run: Run<R>) => RUN_OVERHEAD_VALUES + rowsOf(run) * run[0].request.batch.contextLength;
  const loads = Array.from({ length: threads }, () => ({ runs: [] as Run<R>[], cost: 0 }));
  for (const run of runs.sort((a, b) => costOf(b) - costOf(a))) {
    const least = loads.reduce((best, load) => (load.cost < best.cost ? load : best));
    least.runs.push(run);
    least.cost += costOf(run);
  }
  return loads.map((load) => load.runs);
}
