import { type Frequency, gridPosition, meanStepMs } from '../../time/frequency.ts';
import type { LoadedDetector } from '../unit/loaded-detector.ts';
import type { ReceivedObservation } from '../unit/received-observation.ts';
import { refuse } from '../unit/refused-observations.ts';
import type { Scorable } from '../unit/scorable.ts';
import type { ScoreSink } from '../unit/score-sink.ts';
import { silenceMs } from '../unit/silence.ts';
import { DeadlineWatch } from './deadline-watch.ts';
import { idleDeadline } from './idle-limit.ts';
import type { OutdatedState } from './outdated-state.ts';
import { silenceDeadline } from './silence-watch.ts';
import { type ReadyObservation, StepWatch } from './step-watch.ts';
import { Watermark } from './watermark.ts';

/** Two times agree when they are at most so many steps apart. */
const AGREEMENT_STEPS = 3;
/** Shorter jumps pass at once: what is late after them is soon over. */
const JUMP_STEPS_MIN = 12;
const NOTHING: ReadyObservation[] = [];
/** Records of a series that jump ahead of each other: the oldest of more of them is taken to be right. */
const JUMPS_HELD = 2;

/**
 * Precedes the units of a partition and sees records in the order of their offsets, by their times alone. A record
 * that jumps ahead by more than a detection window (and 12 steps) waits until
 *
 *   - the next record of its series agrees with its time, or two more jump ahead of it, or
 *   - the event time of the partition, or another record that waits, agrees with it.
 *
 * A record that does not jump refutes it, and it becomes a dead letter. So one wrong time does not make everything
 * after it late. What is held is part of the state of its unit.
 */
export class TimestampGuard {
  readonly watermark = new Watermark();
  readonly silent: DeadlineWatch<Scorable | OutdatedState>;
  readonly idle: DeadlineWatch<Scorable | OutdatedState>;
  readonly steps = new StepWatch();
  readonly #holding = new Set<Scorable>();
  /** Before this time of the clock it agrees with no record that is held. */
  #corroboratedFromMs = Number.POSITIVE_INFINITY;
  /** Records so far that were the newest of their series, or group. */
  advances = 0;
  /** Detectors and times of those since the list was taken; null: none waits. */
  advanced: { readonly loaded: LoadedDetector; readonly timestampMs: number }[] | null = null;
  #ready: ReadyObservation[] = NOTHING;

  /** @param all the units and outdated states of the partition */
  constructor(all: () => Iterable<Scorable | OutdatedState>) {
    this.silent = new DeadlineWatch(1, silenceDeadline, all);
    this.idle = new DeadlineWatch(2, idleDeadline, all);
  }

  /** Returns the observations that are ready, in order: this one, and others that waited for its time. */
  accept(unit: Scorable, observation: ReceivedObservation, sink: ScoreSink): readonly ReadyObservation[] {
    this.#ready = NOTHING;
    const { series, timestampMs } = observation;
    const { unconfirmed } = unit.waiting;
    if (unconfirmed.length > 0) {
      // Sent twice, it would agree with itself.
      if (unconfirmed.some((one) => one.series === series && one.timestampMs === timestampMs)) {
        sink.counters.duplicate(unit.loaded, 0);
        return this.#ready;
      }
      if (timestampMs > unit.arrivedMs && this.#resolvePending(unit, observation, sink)) return this.#ready;
    }
    if (!isJump(unit, timestampMs) || this.#isReached(unit, timestampMs)) this.#pass(unit, observation);
    else if (this.#passAgreeing(unit, timestampMs)) this.#pass(unit, observation);
    else if (unit.waiting.awaitConfirmation(observation)) this.#hold(unit, observation);
    else refuseTime(unit, observation, sink);
    return this.#ready;
  }

  /** The next record of a series confirms or refutes those that wait. Returns whether it has passed with them. */
  #resolvePending(unit: Scorable, observation: ReceivedObservation, sink: ScoreSink): boolean {
    const { series, timestampMs } = observation;
    const own = unit.waiting.unconfirmed.filter((held) => held.series === series);
    const jumps = isJump(unit, timestampMs);
    const agreed = jumps && own.some((held) => agree(unit, held.timestampMs, timestampMs));
    const ahead = (held: ReceivedObservation) =>
      held.timestampMs > timestampMs && !agree(unit, held.timestampMs, timestampMs);
    for (const held of own.filter((held) => !jumps || ahead(held))) {
      this.#release(unit, held);
      refuseTime(unit, held, sink);
    }
    const left = jumps ? own.filter((held) => !ahead(held)) : [];
    const confirmed = agreed ? left : left.slice(0, Math.max(0, left.length + 1 - JUMPS_HELD));
    for (const held of confirmed) this.#release(unit, held);
    const passing = agreed ? [...confirmed, observation].sort((a, b) => a.timestampMs - b.timestampMs) : confirmed;
    for (const one of passing) this.#pass(unit, one);
    return agreed;
  }

  /** Returns the records that a unit held back for older ones, because it is silent or the input has ended. */
  flush({ waiting }: Scorable): readonly ReceivedObservation[] {
    return [...waiting.drainOutOfOrder(), ...(waiting.steps?.close(null) ?? [])];
  }

  /** Makes dead letters of the records that a unit holds, because its state is dropped or the input has ended. */
  refuseHeld(unit: Scorable, sink: ScoreSink): void {
    const { waiting, loaded } = unit;
    for (const observation of this.flush(unit)) {
      const { points } = observation;
      const meanwhile =
        points === undefined ? 'it waited for older records' : `the step of its ${points} points was open`;
      const detail = `its series was forgotten, or started over, while ${meanwhile}`;
      refuse(observation, { reason: 'late', detail }, { loaded, sink });
    }
    for (const observation of waiting.drainUnconfirmed()) refuseTime(unit, observation, sink);
    this.#holding.delete(unit);
  }

  /** After a restore of the unit. */
  adopt(unit: Scorable): void {
    // A silent series whose next record waits has returned, and may fall silent again.
    const { unconfirmed, outOfOrder, forBackfill, steps } = unit.waiting;
    const waits = outOfOrder.length > 0 || forBackfill !== null || (steps?.points ?? 0) > 0;
    if (!unit.silent || waits) this.silent.watch(unit);
    this.idle.watch(unit);
    if (unconfirmed.length > 0) this.#holding.add(unit);
    for (const held of unconfirmed) this.#awaitCorroboration(unit, held);
    if (steps !== null) this.steps.adopt(unit, steps);
  }

  /** Forgets a unit whose held records belong to another one from now on. */
  forget(unit: Scorable): void {
    this.#holding.delete(unit);
  }

  /** Units that are not held any more need not be watched. */
  forgetOthers(isHeld: (unit: Scorable | OutdatedState) => boolean): void {
    this.silent.keepOnly(isHeld);
    this.idle.keepOnly(isHeld);
    this.steps.keepOnly(isHeld);
  }

  #pass(unit: Scorable, observation: ReceivedObservation): void {
    const { timestampMs } = observation;
    const { silenceAfter, latenessMs } = unit.loaded.config.settings;
    if (!(timestampMs <= unit.arrivedMs)) {
      const isFirst = Number.isNaN(unit.arrivedMs);
      unit.arrivedMs = timestampMs;
      this.advances++;
      this.advanced?.push({ loaded: unit.loaded, timestampMs });
      this.watermark.reach(timestampMs);
      // Before what is newer: others of a group may wait for them.
      // One by one: they may be more than a call has arguments.
      if (this.steps.isDue(this.watermark.ms))
        for (const step of this.steps.closeDue(this.watermark.ms)) this.#add(step);
      noteSeen(unit, timestampMs, this.watermark.ms);
      if (silenceAfter !== null) this.silent.watch(unit);
      if (isFirst) this.idle.watch(unit);
    }
    // Records may still wait under a lateness that is none any more. Points wait in their time steps.
    const { waiting } = unit;
    const isReady = (latenessMs === 0 && waiting.outOfOrder.length === 0) || waiting.steps?.aggregates;
    if (isReady) this.#add({ unit, observation });
    else
      for (const one of waiting.reorder(observation, unit.arrivedMs - latenessMs))
        this.#add({ unit, observation: one });
    if (this.watermark.ms >= this.#corroboratedFromMs) this.#releaseCorroborated();
  }

  /** Usually it stays the only one: V8 would give a list that grows room for seventeen. */
  #add(ready: ReadyObservation): void {
    if (this.#ready === NOTHING) this.#ready = [ready];
    else this.#ready.push(ready);
  }

  /** After what is ready was scored: it is known then that a member of a group is not silent any more. */
  rewatch(unit: Scorable): void {
    if (unit.group !== null && unit.loaded.config.settings.silenceAfter !== null) this.silent.watch(unit);
  }

  /** Looks at all that is held, so only when there may be something: many series may have wrong times for long. */
  #releaseCorroborated(): void {
    this.#corroboratedFromMs = Number.POSITIVE_INFINITY;
    for (const unit of [...this.#holding]) {
      for (const observation of unit.waiting.unconfirmed) {
        if (this.#isReached(unit, observation.timestampMs)) {
          this.#release(unit, observation);
          this.#pass(unit, observation);
        } else this.#awaitCorroboration(unit, observation);
      }
    }
  }

  /** Records of others that wait and agree with this time confirm it, and are confirmed by it. */
  #passAgreeing(unit: Scorable, timestampMs: number): boolean {
    let found = false;
    for (const other of [...this.#holding]) {
      for (const observation of other.waiting.unconfirmed) {
        if (!agree(unit, observation.timestampMs, timestampMs)) continue;
        found = true;
        this.#release(other, observation);
        this.#pass(other, observation);
      }
    }
    return found;
  }

  #isReached(unit: Scorable, timestampMs: number): boolean {
    return this.watermark.ms >= corroboratedMs(unit, timestampMs);
  }

  #awaitCorroboration(unit: Scorable, { timestampMs }: ReceivedObservation): void {
    this.#corroboratedFromMs = Math.min(this.#corroboratedFromMs, corroboratedMs(unit, timestampMs));
  }

  #hold(unit: Scorable, observation: ReceivedObservation): void {
    this.#holding.add(unit);
    this.#awaitCorroboration(unit, observation);
  }

  #release(unit: Scorable, observation: ReceivedObservation): void {
    unit.waiting.decided(observation);
    if (unit.waiting.unconfirmed.length === 0) this.#holding.delete(unit);
  }
}

/**
 * A series that catches up, far behind the others of its partition, is neither silent nor gone while its records come.
 * It is far behind where its deadline would pass before its next record, a step from now.
 */
function noteSeen(unit: Scorable, arrivedMs: number, watermarkMs: number): void {
  const { settings } = unit.loaded.config;
  const limitMs = silenceMs(settings) ?? settings.idleMs ?? Number.POSITIVE_INFINITY;
  const isBehind = arrivedMs + limitMs < watermarkMs + meanStepMs(settings.freq);
  if (isBehind) unit.lastSeenMs = watermarkMs;
  else if (Number.isFinite(unit.lastSeenMs) && unit.lastSeenMs <= arrivedMs) unit.lastSeenMs = Number.NEGATIVE_INFINITY;
}

function freqOf(unit: Scorable): Frequency {
  return unit.loaded.config.settings.freq;
}

/** From this event time of the partition on, it agrees with a record. */
function corroboratedMs(unit: Scorable, timestampMs: number): number {
  return timestampMs - AGREEMENT_STEPS * meanStepMs(freqOf(unit));
}

function isJump(unit: Scorable, timestampMs: number): boolean {
  const { freq, detectionSize } = unit.loaded.config.settings;
  return gridPosition(freq, unit.arrivedMs, timestampMs) > Math.max(detectionSize, JUMP_STEPS_MIN);
}

function agree(unit: Scorable, aMs: number, bMs: number): boolean {
  return Math.abs(gridPosition(freqOf(unit), aMs, bMs)) <= AGREEMENT_STEPS;
}

function refuseTime({ loaded }: Scorable, observation: ReceivedObservation, sink: ScoreSink): void {
  const ahead = `more than ${Math.max(loaded.config.settings.detectionSize, JUMP_STEPS_MIN)} steps ahead of its series`;
  const detail = `${new Date(observation.timestampMs).toISOString()} is ${ahead}, and no other record agreed with it`;
  refuse(observation, { reason: 'time-unconfirmed', detail }, { loaded, sink });
}
