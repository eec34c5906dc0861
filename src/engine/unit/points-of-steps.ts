import type { OpenStep, PointsOfSeries } from '../../checkpoint/open-step-state.ts';
import type { PointExtras } from '../../records/point-extras.ts';
import type { ReceivedObservation } from './received-observation.ts';

export interface PointInTime {
  readonly timestampMs: number;
  readonly value: number;
  readonly extras: PointExtras | undefined;
}

/** Takes out the points before a time, and puts them in order. */
export function drainPoints(points: PointsOfSeries, endMs: number): readonly PointInTime[] {
  const { timesMs, values, extras } = points;
  const all = timesMs.map((timestampMs, i) => ({ timestampMs, value: values[i], extras: extras?.[i] }));
  const isTaken = ({ timestampMs }: PointInTime) => points.steps.length === 0 || timestampMs < endMs;
  const written = all.slice(0, points.written).filter((point) => !isTaken(point)).length;
  keepPoints(
    points,
    all.filter((point) => !isTaken(point)),
    written,
  );
  return all.filter(isTaken).sort((a, b) => a.timestampMs - b.timestampMs);
}

function keepPoints(points: PointsOfSeries, kept: readonly PointInTime[], written: number): void {
  points.timesMs = kept.map(({ timestampMs }) => timestampMs);
  points.values = kept.map(({ value }) => value);
  points.extras = kept.some(({ extras }) => extras !== undefined) ? kept.map(({ extras }) => extras) : null;
  points.written = written;
}

export function keepPoint(points: PointsOfSeries, { timestampMs, value, extras }: ReceivedObservation): void {
  points.timesMs.push(timestampMs);
  points.values.push(value);
  if (extras === undefined && points.extras === null) return;
  points.extras ??= points.values.slice(1).map(() => undefined);
  points.extras.push(extras);
}

/** Adds a step in its place. Returns false if it is there. */
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

/** Merges kept points with those that were added, without the points of steps that have closed since. */
export function withAdded(known: PointsOfSeries, added: PointsOfSeries): PointsOfSeries {
  const pointsOf = ({ timesMs, values, extras }: PointsOfSeries) =>
    timesMs.map((timestampMs, i) => ({ timestampMs, value: values[i], extras: extras?.[i] }));
  const open = pointsOf(known).filter(({ timestampMs }) => timestampMs >= added.closedMs);
  const together = { ...added };
  keepPoints(together, [...open, ...pointsOf(added)], open.length + added.values.length);
  return together;
}
