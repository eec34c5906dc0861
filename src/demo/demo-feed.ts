import { ServiceError } from '../ops/service-error.ts';
import { INCIDENT_PERIOD } from './demo-incidents.ts';
import { STEPS_PER_DAY, stepAt, timeOf } from './demo-plan.ts';
import { DEMO_SERIES, demoValue } from './demo-series.ts';
import { sentTime, stepOfSent } from './faults.ts';

/** Steps that are written at once at the first start, so that the series can be calibrated. */
export const HISTORY_STEPS = 3 * STEPS_PER_DAY;
/**
 * How long ago the history begins, and up to one period of the incidents before: at the start of a period, so that
 * every new demo shows the same. The steps after it are written faster than real time until the clock is reached. */
const HISTORY_AGE_MS = 30 * 24 * 60 * 60_000;
const SEND_STEPS = 96;
/** From one live step to the next: five minutes of event time in a second. */
export const LIVE_STEP_MS = 1_000;
/** Records at the end of a partition in which the newest step of each series is searched. */
export const TAIL_RECORDS = 2_000;

export interface DemoRecord {
  /** The group id, or the series id where the series is scored alone. */
  readonly key: Buffer;
  /** JSON: series, timestamp (ms), value, and group where there is one. */
  readonly value: Buffer;
}

export interface FeedPlan {
  readonly start: number;
  /** Steps before this one are written at once; this one and later ones one by one. */
  readonly liveStart: number;
  /** The newest step of each series that is written already. */
  readonly newest: ReadonlyMap<string, number>;
}

/** The newest step of each demo series in these records. Other records are ignored. */
export function newestSteps(values: Iterable<Buffer | null>): Map<string, number> {
  const known = new Set(DEMO_SERIES.map(({ id }) => id));
  const newest = new Map<string, number>();
  for (const value of values) {
    const observation = value === null ? null : parseObservation(value);
    if (observation === null || !known.has(observation.series)) continue;
    const step = stepOfSent(observation.timestamp);
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

/** Steps at which the demo continues. Without earlier records it begins with its history. */
export function planFeed(newest: ReadonlyMap<string, number>, nowMs: number): FeedPlan {
  if (newest.size === 0) {
    const start = Math.floor(stepAt(nowMs - HISTORY_AGE_MS) / INCIDENT_PERIOD) * INCIDENT_PERIOD;
    return { start, liveStart: start + HISTORY_STEPS, newest };
  }
  // A send that was interrupted left some series behind the others.
  return { start: Math.min(...newest.values()) + 1, liveStart: Math.max(...newest.values()) + 1, newest };
}

/**
 * Steps `from <= step < until` of every series, oldest first, without steps that are written already, and as their
 * faults have them.
 */
export function demoRecords(from: number, until: number, newest: ReadonlyMap<string, number>): DemoRecord[] {
  const records: DemoRecord[] = [];
  for (let step = from; step < until; step++) {
    for (const series of DEMO_SERIES) {
      if (step <= (newest.get(series.id) ?? Number.NEGATIVE_INFINITY)) continue;
      const { id, group } = series;
      const timestamp = sentTime(id, step);
      if (timestamp === null) continue;
      const observation = { series: id, timestamp, value: demoValue(series, step) };
      records.push({
        key: Buffer.from(group ?? id),
        value: Buffer.from(JSON.stringify(group === null ? observation : { ...observation, group })),
      });
    }
  }
  return records;
}

/** Steps of the history that these series have, each with its own time. */
export function historySize({ start, liveStart }: FeedPlan, covered: ReadonlySet<string>): number {
  let size = 0;
  for (const id of covered) {
    for (let step = start; step < liveStart; step++) if (sentTime(id, step) === timeOf(step)) size++;
  }
  return size;
}

interface FeedTarget {
  /** Resolves when the records are written. */
  send(records: readonly DemoRecord[]): Promise<void>;
  readonly nowMs: () => number;
  /** Resolves after `ms`, or when `signal` aborts. */
  readonly wait: (ms: number) => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Writes the history at once, then one step of every series a second. When event time has reached the clock, it writes
 * each step when it is due. Resolves when `signal` aborts; the history is written to its end in any case. Throws errors
 * that are not retryable.
 */
export async function writeSteps({ start, liveStart, newest }: FeedPlan, target: FeedTarget): Promise<void> {
  for (let from = start; from < liveStart; from += SEND_STEPS) {
    const records = demoRecords(from, Math.min(from + SEND_STEPS, liveStart), newest);
    if (records.length > 0) await sendWithRetries(records, target);
  }
  const { wait, nowMs, signal } = target;
  for (let step = liveStart; ; step++) {
    // What an outage of all series has taken does not come later.
    const records = demoRecords(step, step + 1, newest);
    if (records.length === 0) continue;
    await wait(Math.max(LIVE_STEP_MS, timeOf(step) - nowMs()));
    if (signal.aborted) return;
    await sendWithRetries(records, target);
  }
}

/** Retries while the broker is out of reach. A step that is written twice is dropped as a duplicate. */
async function sendWithRetries(records: readonly DemoRecord[], { send, wait, signal }: FeedTarget): Promise<void> {
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
