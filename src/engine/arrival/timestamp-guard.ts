import { type Frequency, gridPosition, meanStepMs } from '../../time/frequency.ts';
import type { ReceivedObservation } from '../unit/received-observation.ts';
import type { Scorable } from '../unit/scorable.ts';
import type { ScoreSink } from '../unit/score-sink.ts';
import { silenceMs } from '../unit/silence-records.ts';
import { DeadlineWatch } from './deadline-watch.ts';
import { idleDeadline } from './idle-limit.ts';
import type { OutdatedState } from './outdated-state.ts';
import { silenceDeadline } from './silence-watch.ts';
import { StepWatch } from './step-watch.ts';
import { Watermark } from './watermark.ts';

/** Two times agree when they are at most so many steps apart. */
const AGREEMENT_STEPS = 3;
/** Shorter jumps pass at once: what is late after them is soon over. */
const JUMP_STEPS_MIN = 12;
/** Records of a series that jump ahead of each other: the oldest of more of them is taken to be right. */
const JUMPS_HELD = 2;

/** Hands an observation to its unit. */
export type DispatchObservation = (unit: Scorable, observation: ReceivedObservation) => void;

interface GateOutlets {
  readonly dispatch: DispatchObservation;
  readonly sink: ScoreSink;
}

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
  /** Called with each of them; null: nobody waits for one. */
  onAdvance: ((unit: Scorable, timestampMs: number) => void) | null = null;

  /** @param all the units and outdated states of the partition */
  constructor(all: () => Iterable<Scorable | OutdatedState>) {
    this.silent = new DeadlineWatch(1, silenceDeadline, all);
    this.idle = new DeadlineWatch(2, idleDeadline, all);
  }

  accept(unit: Scorable, observation: ReceivedObservation, outlets: GateOutlets): void {
    const { series, timestampMs } = observation;
    const { dispatch, sink } = outlets;
    // Sent twice, it would agree with itself.
    const { unconfirmed } = unit.waiting;
    if (unconfirmed.length > 0 && unconfirmed.some((one) => one.series === series && one.timestampMs === timestampMs)) {
      sink.counters.duplicate(unit.loaded, 0);
      return;
    }
    if (unconfirmed.length > 0 && timestampMs > unit.arrivedMs && this.#resolvePending(unit, observation, outlets))
      return;
    if (!isJump(unit, timestampMs) || this.#isReached(unit, timestampMs)) this.#pass(unit, observation, dispatch);
    else if (this.#passAgreeing(unit, timestampMs, dispatch)) this.#pass(unit, observation, dispatch);
    else if (unit.waiting.awaitConfirmation(observation)) this.#hold(unit, observation);
    else refuse(unit, observation, sink);
  }

  /** The next record of a series confirms or refutes those that wait. Returns whether it has passed with them. */
  #resolvePending(unit: Scorable, observation: ReceivedObservation, { dispatch, sink }: GateOutlets): boolean {
    const { series, timestampMs } = observation;
    const own = unit.waiting.unconfirmed.filter((held) => held.series === series);
    const jumps = isJump(unit, timestampMs);
    const agreed = jumps && own.some((held) => agree(unit, held.timestampMs, timestampMs));
    const ahead = (held: ReceivedObservation) =>
      held.timestampMs > timestampMs && !agree(unit, held.timestampMs, timestampMs);
    for (const held of own.filter((held) => !jumps || ahead(held))) {
      this.#release(unit, held);
      refuse(unit, held, sink);
    }
    const left = jumps ? own.filter((held) => !ahead(held)) : [];
    const confirmed = agreed ? left : left.slice(0, Math.max(0, left.length + 1 - JUMPS_HELD));
    for (const held of confirmed) this.#release(unit, held);
    const passing = agreed ? [...confirmed, observation].sort((a, b) => a.timestampMs - b.timestampMs) : confirmed;
    for (const one of passing) this.#pass(unit, one, dispatch);
    return agreed;
  }

  /** Nothing older is waited for: the unit is silent, or the input has ended. */
  flush(unit: Scorable, dispatch: DispatchObservation): void {
    for (const observation of unit.waiting.drainOutOfOrder()) dispatch(unit, observation);
    for (const observation of unit.waiting.steps?.close(null) ?? []) dispatch(unit, observation);
  }

  /** Makes dead letters of the records that a unit holds: its state is given up, or the input has ended. */
  refuseHeld(unit: Scorable, sink: ScoreSink): void {
    for (const { record, series } of unit.waiting.drainOutOfOrder()) {
      const detail = 'its series was forgotten, or started over, while it waited for older records';
      sink.outputs.deadLetter(record, { reason: 'late', detail, series, detector: unit.loaded.config.name });
    }
    for (const { record, series, points } of unit.waiting.steps?.close(null) ?? []) {
      const detail = `its series was forgotten, or started over, while the step of its ${points} points was open`;
      sink.outputs.deadLetter(record, { reason: 'late', detail, series, detector: unit.loaded.config.name });
    }
    for (const observation of unit.waiting.drainUnconfirmed()) refuse(unit, observation, sink);
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

  #pass(unit: Scorable, observation: ReceivedObservation, dispatch: DispatchObservation): void {
    const { timestampMs } = observation;
    const { silenceAfter, latenessMs } = unit.loaded.config.settings;
    if (!(timestampMs <= unit.arrivedMs)) {
      const isFirst = Number.isNaN(unit.arrivedMs);
      unit.arrivedMs = timestampMs;
      this.advances++;
      this.onAdvance?.(unit, timestampMs);
      this.watermark.reach(timestampMs);
      // Before what is newer: others of a group may wait for them.
      if (this.steps.isDue(this.watermark.ms)) this.steps.closeDue(this.watermark.ms, dispatch);
      noteSeen(unit, timestampMs, this.watermark.ms);
      if (silenceAfter !== null) this.silent.watch(unit);
      if (isFirst) this.idle.watch(unit);
    }
    // Records may still wait under a lateness that is none any more. Points wait in their time steps.
    const { waiting } = unit;
    if (latenessMs === 0 && waiting.outOfOrder.length === 0) dispatch(unit, observation);
    else if (waiting.steps?.aggregates) dispatch(unit, observation);
    else for (const one of waiting.reorder(observation, unit.arrivedMs - latenessMs)) dispatch(unit, one);
    // It is known now that the member is not silent any more.
    if (unit.group !== null && silenceAfter !== null) this.silent.watch(unit);
    if (this.watermark.ms >= this.#corroboratedFromMs) this.#releaseCorroborated(dispatch);
  }

  /** Looks at all that is held, so only when there may be something: many series may have wrong times for long. */
  #releaseCorroborated(dispatch: DispatchObservation): void {
    this.#corroboratedFromMs = Number.POSITIVE_INFINITY;
    for (const unit of [...this.#holding]) {
      for (const observation of unit.waiting.unconfirmed) {
        if (this.#isReached(unit, observation.timestampMs)) {
          this.#release(unit, observation);
          this.#pass(unit, observation, dispatch);
        } else this.#awaitCorroboration(unit, observation);
      }
    }
  }

  /** Records of others that wait and agree with this time confirm it, and are confirmed by it. */
  #passAgreeing(unit: Scorable, timestampMs: number, dispatch: DispatchObservation): boolean {
    let found = false;
    for (const other of [...this.#holding]) {
      for (const observation of other.waiting.unconfirmed) {
        if (!agree(unit, observation.timestampMs, timestampMs)) continue;
        found = true;
        this.#release(other, observation);
        this.#pass(other, observation, dispatch);
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
 */
function noteSeen(unit: Scorable, arrivedMs: number, watermarkMs: number): void {
  const { settings } = unit.loaded.config;
  const isBehind = arrivedMs + (silenceMs(settings) ?? settings.idleMs ?? Number.POSITIVE_INFINITY) < watermarkMs;
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

function refuse(unit: Scorable, { record, series, timestampMs }: ReceivedObservation, sink: ScoreSink): void {
  const { name, settings } = unit.loaded.config;
  const ahead = `more than ${Math.max(settings.detectionSize, JUMP_STEPS_MIN)} steps ahead of its series`;
  sink.outputs.deadLetter(record, {
    reason: 'time-unconfirmed',
    detail: `${new Date(timestampMs).toISOString()} is ${ahead}, and no other record agreed with it`,
    series,
    detector: name,
  });
}
