import type { EventAnswer } from '../../../api/wire/schema/operations/event-schema.ts';
import type { TimeRange } from './shown-scores.ts';

interface LaneBar {
  readonly event: EventAnswer;
  /** Shares of the width, 0..1. */
  readonly left: number;
  readonly width: number;
}

/** Width below which a bar could not be seen or hit. */
const WIDTH_MIN = 0.004;

/** Bars of a timeline, a lane for each detector or series, so that bars of one lane do not cover each other's start. */
export function timelineLanes(
  events: readonly EventAnswer[],
  { from, to }: TimeRange,
  nowMs: number,
): ReadonlyMap<string, readonly LaneBar[]> {
  const lanes = new Map<string, LaneBar[]>();
  const span = Math.max(1, to - from);
  for (const event of [...events].sort((a, b) => a.startedAtMs - b.startedAtMs)) {
    const end = event.endedAtMs ?? nowMs;
    if (end < from || event.startedAtMs > to) continue;
    const left = Math.max(0, (event.startedAtMs - from) / span);
    const right = Math.min(1, (end - from) / span);
    const lane = lanes.get(event.detector) ?? [];
    lane.push({ event, left: Math.min(left, 1 - WIDTH_MIN), width: Math.max(WIDTH_MIN, right - left) });
    lanes.set(event.detector, lane);
  }
  return lanes;
}
