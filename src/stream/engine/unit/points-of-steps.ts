import type { OpenStep, PointsOfSeries } from '../../changelog/open-step-state.ts';
import type { ReceivedObservation } from './batch-outcome.ts';

export interface PointsInTime {
  readonly timesMs: readonly number[];
  readonly values: readonly number[];
}

/** Takes out the points before a time, and puts them in order. */
export function takePoints(points: PointsOfSeries, endMs: number): PointsInTime {
  const { timesMs, values } = points;
  if (points.steps.length === 0) {
    [points.timesMs, points.values, points.written] = [[], [], 0];
    return inTime(timesMs, values);
  }
  const taken: [number[], number[]] = [[], []];
  const kept: [number[], number[]] = [[], []];
  let { written } = points;
  timesMs.forEach((timeMs, i) => {
    const [times, some] = timeMs < endMs ? taken : kept;
    times.push(timeMs);
    some.push(values[i]);
    if (timeMs < endMs && i < points.written) written--;
  });
  [points.timesMs, points.values, points.written] = [...kept, written];
  return inTime(...taken);
}

function inTime(timesMs: readonly number[], values: readonly number[]): PointsInTime {
  if (timesMs.every((timeMs, i) => i === 0 || timeMs > timesMs[i - 1])) return { timesMs, values };
  const order = Array.from(timesMs.keys()).sort((a, b) => timesMs[a] - timesMs[b]);
  return { timesMs: order.map((i) => timesMs[i]), values: order.map((i) => values[i]) };
}

/** Adds a step in its place. Returns false where it is there. */
export function keepStep(steps: OpenStep[], step: OpenStep): boolean {
  if (steps.includes(step)) return false;
  const at = steps.findIndex(({ startMs }) => startMs > step.startMs);
  steps.splice(at < 0 ? steps.length : at, 0, step);
  return true;
}

export function noteRecord(step: OpenStep, { record }: ReceivedObservation): void {
  const { key } = record;
  step.offset = record.offset;
  step.recordMs = record.timestampMs;
  step.headers = record.headers;
  if (key === null) step.key = null;
  // A copy: the key is a view of all that was fetched with it.
  else if (step.key === null || !step.key.equals(key)) step.key = Buffer.from(key);
}

/** What was kept, without the points of steps that have closed since, and what was added. */
export function withAdded(known: PointsOfSeries, added: PointsOfSeries): PointsOfSeries {
  const timesMs: number[] = [];
  const values: number[] = [];
  known.timesMs.forEach((timeMs, i) => {
    if (timeMs < added.closedMs) return;
    timesMs.push(timeMs);
    values.push(known.values[i]);
  });
  timesMs.push(...added.timesMs);
  values.push(...added.values);
  return { ...added, timesMs, values, written: timesMs.length };
}
