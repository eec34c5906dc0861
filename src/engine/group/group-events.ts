import type { Member } from '../../checkpoint/group-state.ts';
import type { PendingObservation } from '../../checkpoint/pending-steps.ts';
import { earlierValue } from '../../detection/series/earlier-value.ts';
import type { GroupDetection } from '../../detection/series/group-detector.ts';
import type { ScoreSink } from '../unit/score-sink.ts';
import type { UnitEvents } from '../unit/unit-events.ts';

/** A group has no interval. */
const NO_BOUNDS = { lo: Number.NaN, hi: Number.NaN };

type StepObservations = ReadonlyMap<string, PendingObservation>;

export const NOTHING_OBSERVED: StepObservations = new Map();

interface GroupStep {
  readonly position: number;
  readonly scored: GroupDetection;
  readonly observations: StepObservations;
  /** In the order of `scored.members`. */
  readonly members: readonly Member[];
  /** Event time of position 0. */
  readonly originMs: number;
}

/** Events of a time step of a group. It has the time of its first observation, and the offset of its newest. */
export function followStep(
  events: UnitEvents,
  step: GroupStep,
  { key, sink }: { readonly key: Buffer; readonly sink: ScoreSink },
): void {
  const { position, scored, observations, members, originMs } = step;
  if (!wantsStep(events, scored.alarm, observations)) return;
  const [first] = observations.values();
  const row = {
    position,
    timestampMs: first?.timestampMs ?? Math.round(originMs + position * events.stepMs),
    offset: Math.max(-1, ...Array.from(observations.values(), ({ offset }) => offset)),
    verdict: scored,
    seen: members.flatMap(({ series, detector }, i) => {
      const value = observations.get(series)?.value;
      if (value === undefined) return [];
      const { forecast: expected, unusual, season } = scored.members[i];
      const { rings, origin } = detector;
      const earlier = (before: number) => {
        const known = earlierValue(detector, before);
        return known && { ...known, ...NO_BOUNDS };
      };
      return [{ series, value, expected, ...NO_BOUNDS, sharp: unusual?.sharp ?? 0, season, rings, origin, earlier }];
    }),
    keptOf: (series: string) => members.find((member) => member.series === series)?.detector ?? null,
  };
  events.track(row, key, sink);
}

function wantsStep(events: UnitEvents, alarm: boolean, observations: StepObservations): boolean {
  if (events.wants(alarm, Number.NaN)) return true;
  for (const { value } of observations.values()) if (events.wants(alarm, value)) return true;
  return false;
}
