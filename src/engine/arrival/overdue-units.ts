import type { DetectionUnit } from '../unit/detection-unit.ts';
import { silenceMs } from '../unit/silence-records.ts';
import type { ArrivalGate, GiveObservation } from './arrival-gate.ts';
import { pausedWithPartition, silenceMark } from './silence-watch.ts';
import { isStale, type StaleUnit } from './stale-unit.ts';

/** After a record: the event time of the partition before it, and where its consequences go. */
export interface ClockMove {
  readonly offset: number;
  readonly beforeMs: number;
  readonly gate: ArrivalGate;
  readonly holds: (one: DetectionUnit | StaleUnit) => boolean;
  readonly touch: (unit: DetectionUnit) => void;
  readonly give: GiveObservation;
  /** Whether the detector of a unit is in a pause, or begins one with its silence. */
  readonly isInPause: (one: DetectionUnit | StaleUnit) => boolean;
  readonly beginsPause: (unit: DetectionUnit, offset: number) => Promise<boolean>;
  /** The unit that continues a stale state; null where there is nothing to continue. */
  readonly succeed: (stale: StaleUnit) => DetectionUnit | null;
}

/** Says that units are silent: they have no record at the event time of the partition, although one is long due. */
export async function saySilent(move: ClockMove): Promise<void> {
  const { gate, offset, give } = move;
  for (const one of gate.silent.takeDue(gate.clock.ms)) {
    const unit = move.isInPause(one) ? null : unitOf(one, move);
    if (unit === null) continue;
    if (hasPaused(unit, silenceMs(unit.bound.config.settings), move)) continue;
    if (!isStale(one) && !unit.isSilenceDue(gate.clock.ms)) {
      gate.silent.watch(unit);
      continue;
    }
    if (await move.beginsPause(unit, offset)) continue;
    // The other members of a group may still send what is older.
    if (unit.group === null) gate.flush(unit, give);
    give(unit, silenceMark(unit, { offset, cause: 'event-time', clockMs: gate.clock.ms }));
    // Other members of a group may be next.
    if (unit.group !== null) gate.silent.watch(unit);
  }
}

/** null if it is gone, had a record meanwhile, or keeps nothing. */
function unitOf(one: DetectionUnit | StaleUnit, { holds, succeed }: ClockMove): DetectionUnit | null {
  if (!holds(one)) return null;
  return isStale(one) ? succeed(one) : one;
}

/** The units and stale states for which nothing came for `idle_limit`, while others of the partition went on. */
export function takeIdle(move: ClockMove): (DetectionUnit | StaleUnit)[] {
  const { gate, holds } = move;
  return gate.idle
    .takeDue(gate.clock.ms)
    .filter((one) => holds(one) && (isStale(one) || !hasPaused(one, one.bound.config.settings.idleMs, move)));
}

/** Whether its whole partition paused; its time counts from now on then. */
function hasPaused(unit: DetectionUnit, limitMs: number | null, { gate, beforeMs, touch }: ClockMove): boolean {
  if (!pausedWithPartition(unit, { moveMs: gate.clock.ms - beforeMs, limitMs })) return false;
  unit.heardMs = gate.clock.ms;
  touch(unit);
  gate.silent.watch(unit);
  gate.idle.watch(unit);
  return true;
}
