import type { Scorable } from '../unit/scorable.ts';
import { silenceMs } from '../unit/silence-records.ts';
import { isOutdated, type OutdatedState } from './outdated-state.ts';
import { pausedWithPartition, silenceMark } from './silence-watch.ts';
import type { DispatchObservation, TimestampGuard } from './timestamp-guard.ts';

/** After a record: the event time of the partition before it, and where its consequences go. */
export interface WatermarkMove {
  readonly offset: number;
  readonly beforeMs: number;
  readonly guard: TimestampGuard;
  readonly isRegistered: (one: Scorable | OutdatedState) => boolean;
  readonly touch: (unit: Scorable) => void;
  readonly dispatch: DispatchObservation;
  /** True if the detector of a unit is in a pause, or begins one with its silence. */
  readonly isInPause: (one: Scorable | OutdatedState) => boolean;
  readonly beginsPause: (unit: Scorable, offset: number) => Promise<boolean>;
  /** The unit that continues an outdated state; null where there is nothing to continue. */
  readonly succeed: (outdated: OutdatedState) => Scorable | null;
}

/** Reports that units are silent: they have no record at the event time of the partition, although one is long due. */
export async function reportSilent(move: WatermarkMove): Promise<void> {
  const { guard, offset, dispatch } = move;
  for (const one of guard.silent.popDue(guard.watermark.ms)) {
    const unit = move.isInPause(one) ? null : unitOf(one, move);
    if (unit === null) continue;
    if (hasPaused(unit, silenceMs(unit.loaded.config.settings), move)) continue;
    if (!isOutdated(one) && !unit.isSilenceDue(guard.watermark.ms)) {
      guard.silent.watch(unit);
      continue;
    }
    if (await move.beginsPause(unit, offset)) continue;
    // The other members of a group may still send what is older.
    if (unit.group === null) guard.flush(unit, dispatch);
    dispatch(unit, silenceMark(unit, { offset, cause: 'event-time', watermarkMs: guard.watermark.ms }));
    // Other members of a group may be next.
    if (unit.group !== null) guard.silent.watch(unit);
  }
}

/** null if it is gone, had a record meanwhile, or keeps nothing. */
function unitOf(one: Scorable | OutdatedState, { isRegistered, succeed }: WatermarkMove): Scorable | null {
  if (!isRegistered(one)) return null;
  return isOutdated(one) ? succeed(one) : one;
}

/** The units and outdated states for which nothing came for `idle_limit`, while others of the partition continued. */
export function popIdle(move: WatermarkMove): (Scorable | OutdatedState)[] {
  const { guard, isRegistered } = move;
  return guard.idle
    .popDue(guard.watermark.ms)
    .filter(
      (one) => isRegistered(one) && (isOutdated(one) || !hasPaused(one, one.loaded.config.settings.idleMs, move)),
    );
}

/** True if its whole partition paused; its time counts from now on then. */
function hasPaused(unit: Scorable, limitMs: number | null, { guard, beforeMs, touch }: WatermarkMove): boolean {
  if (!pausedWithPartition(unit, { moveMs: guard.watermark.ms - beforeMs, limitMs })) return false;
  unit.lastSeenMs = guard.watermark.ms;
  touch(unit);
  guard.silent.watch(unit);
  guard.idle.watch(unit);
  return true;
}
