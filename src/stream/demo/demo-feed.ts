import { ServiceError } from '../../service-error.ts';
import { DEMO_SERIES, demoValue } from './demo-series.ts';
import { STEPS_PER_DAY, stepAt, timeOf } from './demo-time.ts';

/** What is fed at once at the first start, so that there is something to judge by. */
export const HISTORY_STEPS = 3 * STEPS_PER_DAY;
/** How long ago the history begins. What follows it is fed faster than it happens until the clock is reached. */
const HISTORY_AGE_MS = 30 * 24 * 60 * 60_000;
/** Steps of all series in one send. */
const SEND_STEPS = 96;
/** From one live step to the next: five minutes of event time in a second. */
export const LIVE_STEP_MS = 1_000;
/** Records at the end of a partition that are looked through for the newest step of each series. */
export const TAIL_RECORDS = 2_000;

export interface DemoRecord {
  /** The group's name, or the series' where it is judged alone. */
  readonly key: Buffer;
  /** JSON: series, timestamp (ms), value, and the group where there is one. */
  readonly value: Buffer;
}

export interface FeedPlan {
  /** The first step that is to be fed. */
  readonly start: number;
  /** Steps before this one are fed at once, this and all others one by one. */
  readonly liveStart: number;
  /** Newest step of each series that is fed already. */
  readonly newest: ReadonlyMap<string, number>;
}

/** The newest step of each series of the demo among these records; other records do not count. */
export function newestSteps(values: Iterable<Buffer | null>): Map<string, number> {
  const known = new Set(DEMO_SERIES.map(({ id }) => id));
  const newest = new Map<string, number>();
  for (const value of values) {
    const observation = value === null ? null : parseObservation(value);
    if (observation === null || !known.has(observation.series)) continue;
    const step = stepAt(observation.timestamp);
    newest.set(observation.series, Math.max(step, newest.get(observation.series) ?? step));
  }
  return newest;
}

function parseObservation(value: Buffer): { readonly series: string; readonly timestamp: number } | null {
  try {
    const { series, timestamp } = JSON.parse(value.toString());
    return typeof series === 'string' && Number.isSafeInteger(timestamp) ? { series, timestamp } : null;
  } catch {
    return null;
  }
}

/** From where the demo goes on; where nothing is fed yet it begins with its history. */
export function planFeed(newest: ReadonlyMap<string, number>, nowMs: number): FeedPlan {
  if (newest.size === 0) {
    const start = stepAt(nowMs - HISTORY_AGE_MS);
    return { start, liveStart: start + HISTORY_STEPS, newest };
  }
  // A feed that was cut off in the middle of a send left some series behind the others.
  return { start: Math.min(...newest.values()) + 1, liveStart: Math.max(...newest.values()) + 1, newest };
}

/** Steps `from <= step < until` of every series, oldest first, without what is fed already. */
export function demoRecords(from: number, until: number, newest: ReadonlyMap<string, number>): DemoRecord[] {
  const records: DemoRecord[] = [];
  for (let step = from; step < until; step++) {
    for (const series of DEMO_SERIES) {
      if (step <= (newest.get(series.id) ?? Number.NEGATIVE_INFINITY)) continue;
      const { id, group } = series;
      const observation = { series: id, timestamp: timeOf(step), value: demoValue(series, step) };
      records.push({
        key: Buffer.from(group ?? id),
        value: Buffer.from(JSON.stringify(group === null ? observation : { ...observation, group })),
      });
    }
  }
  return records;
}

export interface FeedTarget {
  /** Resolves when the records are written. */
  send(records: readonly DemoRecord[]): Promise<void>;
  readonly nowMs: () => number;
  /** Resolves after `ms`, or when the feed is to end. */
  readonly wait: (ms: number) => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Feeds the history in a burst (it is short: it does not stop half-way), then a step of every series a second, and once event time has
 * reached the clock, a step whenever one is due. Resolves when `signal` aborts; throws what sending cannot recover from.
 */
export async function feedDemo({ start, liveStart, newest }: FeedPlan, target: FeedTarget): Promise<void> {
  for (let from = start; from < liveStart; from += SEND_STEPS) {
    await sendPatiently(demoRecords(from, Math.min(from + SEND_STEPS, liveStart), newest), target);
  }
  const { wait, nowMs, signal } = target;
  for (let step = liveStart; ; step++) {
    await wait(Math.max(LIVE_STEP_MS, timeOf(step) - nowMs()));
    if (signal.aborted) return;
    await sendPatiently(demoRecords(step, step + 1, newest), target);
  }
}

/** A broker that is away comes back. What was written before it went is written twice then, and dropped as a duplicate. */
async function sendPatiently(records: readonly DemoRecord[], { send, wait, signal }: FeedTarget): Promise<void> {
  for (;;) {
    try {
      await send(records);
      return;
    } catch (error) {
      if (!(error instanceof ServiceError && error.retryable)) throw error;
      if (signal.aborted) return;
      await wait(LIVE_STEP_MS);
    }
  }
}
