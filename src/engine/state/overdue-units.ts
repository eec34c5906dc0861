import type { Quiet } from '../arrival/detector-times.ts';
import { detectorOf, isOutdated, type OutdatedState } from '../arrival/outdated-state.ts';
import { pausedWithPartition, silenceLimitOf, silenceMark } from '../arrival/silence-watch.ts';
import type { TimestampGuard } from '../arrival/timestamp-guard.ts';
import type { LoadedDetector } from '../unit/loaded-detector.ts';
import type { Scorable } from '../unit/scorable.ts';
import { silenceMs } from '../unit/silence.ts';
import type { DetectorPauses } from './detector-pauses.ts';
import type { Dispatch } from './dispatch.ts';
import type { PartitionUnits } from './partition-units.ts';

/** Longest interval between two checks of the event time of other partitions. */
const LOOK_MS_MAX = 30_000;

/** A record, and the event time of the partition before it. */
interface WatermarkMove {
  readonly offset: number;
  readonly beforeMs: number;
}

/** Units that send nothing, by the event time of their partition or by the clock: they are silent, or forgotten. */
export class OverdueUnits {
  readonly #units: PartitionUnits;
  readonly #guard: TimestampGuard;
  readonly #pauses: DetectorPauses;

  constructor(units: PartitionUnits, guard: TimestampGuard, pauses: DetectorPauses) {
    this.#units = units;
    this.#guard = guard;
    this.#pauses = pauses;
  }

  /** True if `report` may have something to do. It rarely has, and a promise for each record would be garbage. */
  get mayBeDue(): boolean {
    const { silent, idle, watermark } = this.#guard;
    return silent.isDue(watermark.ms) || idle.isDue(watermark.ms);
  }

  /** After a record. Rejects when the model fails. */
  async report(move: WatermarkMove, dispatch: Dispatch): Promise<void> {
    const { silent, idle, watermark } = this.#guard;
    if (silent.isDue(watermark.ms)) await this.#reportSilent(move, dispatch);
    if (idle.isDue(watermark.ms)) await this.#forgetIdle(move, dispatch);
  }

  /** Reports units as silent: they have no record at the event time of the partition, although one is long due. */
  async #reportSilent(move: WatermarkMove, dispatch: Dispatch): Promise<void> {
    const { silent, watermark } = this.#guard;
    const { offset } = move;
    for (const one of silent.popDue(watermark.ms)) {
      const unit = this.#pauses.covers(one) ? null : this.#unitOf(one, dispatch);
      if (unit === null) continue;
      if (this.#hasPaused(unit, silenceMs(unit.loaded.config.settings), move, dispatch)) continue;
      if (!isOutdated(one) && !unit.isSilenceDue(watermark.ms)) {
        silent.watch(unit);
        continue;
      }
      if (await this.#beginsPause(unit.loaded, offset, dispatch)) continue;
      dispatch.touch(unit);
      // The other members of a group may still send what is older.
      if (unit.group === null) dispatch.flush(unit);
      dispatch.give({
        unit,
        observation: silenceMark(unit, { offset, cause: 'event-time', watermarkMs: watermark.ms }),
      });
      // Other members of a group may be next.
      if (unit.group !== null) silent.watch(unit);
    }
  }

  /** null if it is gone, had a record meanwhile, or keeps nothing. */
  #unitOf(one: Scorable | OutdatedState, { sink }: Dispatch): Scorable | null {
    if (!this.#units.isRegistered(one)) return null;
    return isOutdated(one) ? this.#units.migrateUnseen(one, sink) : one;
  }

  /** Forgets units for which nothing came for `idle_limit`, once their waiting records are scored. */
  async #forgetIdle(move: WatermarkMove, dispatch: Dispatch): Promise<void> {
    const { idle, watermark } = this.#guard;
    const due = idle.popDue(watermark.ms).filter((one) => {
      if (!this.#units.isRegistered(one)) return false;
      return isOutdated(one) || !this.#hasPaused(one, one.loaded.config.settings.idleMs, move, dispatch);
    });
    const units = due.filter((one): one is Scorable => !isOutdated(one));
    for (const unit of units) dispatch.drainBackfill(unit);
    for (const unit of units) this.#flush(unit, dispatch);
    await dispatch.resume();
    for (const unit of units) dispatch.finish(unit);
    await dispatch.resume();
    const at = { timestampMs: watermark.ms, offset: move.offset, reason: 'idle' as const };
    for (const one of due) this.#units.forget(one, at, dispatch.sink);
  }

  /** True if its whole partition paused; its time counts from now on then. */
  #hasPaused(unit: Scorable, limitMs: number | null, { beforeMs }: WatermarkMove, dispatch: Dispatch): boolean {
    const { ms } = this.#guard.watermark;
    if (!pausedWithPartition(unit, { moveMs: ms - beforeMs, limitMs })) return false;
    unit.lastSeenMs = ms;
    dispatch.touch(unit);
    this.#guard.silent.watch(unit);
    this.#guard.idle.watch(unit);
    return true;
  }

  /** Scores waiting records of the series of a detector before it decides whether these are in a pause. */
  async #beginsPause(loaded: LoadedDetector, offset: number, dispatch: Dispatch): Promise<boolean> {
    if (!this.#pauses.mayBegin(loaded)) return false;
    const { name } = loaded.config;
    for (const one of this.#units.ofDetector(name)) if (!isOutdated(one)) dispatch.drainBackfill(one);
    await dispatch.resume();
    if (!this.#pauses.begin(loaded, { offset, sink: dispatch.sink })) return false;
    for (const one of this.#units.ofDetector(name)) if (!isOutdated(one)) this.#flush(one, dispatch);
    return true;
  }

  /** Scores what waits for older records. */
  #flush(unit: Scorable, dispatch: Dispatch): void {
    const { outOfOrder, steps } = unit.waiting;
    if (outOfOrder.length === 0 && (steps?.points ?? 0) === 0) return;
    dispatch.sink.state.touched(this.#units.backfills.entryOf(unit));
    dispatch.flush(unit);
  }

  /**
   * No observation arrived at the partition for some time: what waits for older records is scored in units whose
   * records are due for so long, and these are silent, or in a pause where all of their detector are. Series of a
   * detector that continues in other partitions are silent once its event time has gone on for as long there. Returns
   * after which time the next ones may be, or null. Rejects when the model fails.
   */
  async reportQuiet({ quietMs, elsewhere }: Quiet, offset: number, dispatch: Dispatch): Promise<number | null> {
    const { sink } = dispatch;
    const due: (Scorable | OutdatedState)[] = [];
    let nextMs = Number.POSITIVE_INFINITY;
    for (const one of this.#units.every.filter(this.#units.isRegistered)) {
      const dueMs = isSilenceReported(one) || this.#pauses.covers(one) ? null : silenceLimitOf(one);
      if (dueMs === null) continue;
      const others = elsewhere.get(detectorOf(one)?.config.name ?? '');
      const isUndecided = others !== undefined && Math.max(others.movedMs, others.quietMs) < dueMs;
      if (dueMs > quietMs) nextMs = Math.min(nextMs, dueMs);
      else if (isUndecided) nextMs = Math.min(nextMs, quietMs + Math.min(LOOK_MS_MAX, dueMs - others.quietMs));
      else due.push(one);
    }
    // Steps stay open: a clock must not decide what is in them.
    for (const one of due) if (!isOutdated(one) && !one.waiting.steps?.aggregates) this.#flush(one, dispatch);
    await dispatch.resume();
    const stopped: Scorable[] = [];
    for (const [loaded, ones] of Map.groupBy(due, detectorOf)) {
      const { movedMs = 0 } = elsewhere.get(loaded?.config.name ?? '') ?? {};
      const isPause = loaded !== null && movedMs < (silenceMs(loaded.config.settings) ?? 0);
      if (isPause && this.#pauses.begin(loaded, { offset, sink })) continue;
      for (const one of ones) {
        const unit = isOutdated(one) ? this.#units.migrateUnseen(one, sink) : one;
        if (unit === null) continue;
        stopped.push(unit);
        const mark = { offset, cause: 'clock', watermarkMs: this.#guard.watermark.ms } as const;
        dispatch.give({ unit, observation: silenceMark(unit, mark) });
      }
    }
    await dispatch.resume();
    const changed = stopped.filter(({ silent, group }) => silent || group !== null);
    for (const unit of changed) sink.state.touched(this.#units.backfills.entryOf(unit));
    return Number.isFinite(nextMs) ? nextMs : null;
  }
}

/** True if the silence of a unit was reported, or will be with its backfill. */
function isSilenceReported(one: Scorable | OutdatedState): boolean {
  if (isOutdated(one)) return false;
  const { outOfOrder, forBackfill } = one.waiting;
  return (one.silent && outOfOrder.length === 0) || forBackfill?.at(-1)?.silence !== undefined;
}
