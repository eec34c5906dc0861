import { type Frequency, gridPosition, meanStepMs } from '../../time/frequency.ts';
import type { DetectionUnit } from '../unit/detection-unit.ts';
import type { ReceivedObservation } from '../unit/received-observation.ts';
import type { ScoreSink } from '../unit/score-sink.ts';
import { silenceMs } from '../unit/silence-records.ts';
import { DeadlineWatch } from './deadline-watch.ts';
import { EventClock } from './event-clock.ts';
import { idleDeadline } from './idle-limit.ts';
import { silenceDeadline } from './silence-watch.ts';
import type { StaleUnit } from './stale-unit.ts';
import { StepWatch } from './step-watch.ts';

/** Two times agree when they are at most so many steps apart. */
const AGREEMENT_STEPS = 3;
/** Shorter jumps pass at once: what is late after them is soon over. */
const JUMP_STEPS_MIN = 12;
/** Records of a series that jump ahead of each other: the oldest of more of them is taken to be right. */
const JUMPS_HELD = 2;

/** Hands an observation to its unit. */
export type GiveObservation = (unit: DetectionUnit, observation: ReceivedObservation) => void;

interface GateOutlets {
  readonly give: GiveObservation;
  readonly sink: ScoreSink;
}

/**
 * Stands before the units of a partition and sees records in the order of their offsets, by their times alone. A record
 * that jumps ahead by more than a detection window (and 12 steps) waits until
 *
 *   - the next record of its series agrees with its time, or two more jump ahead of it, or
 *   - the event time of the partition, or another record that waits, agrees with it.
 *
 * A record that does not jump refutes it, and it becomes a dead letter. So one wrong time does not make everything
 * after it late. What is held is part of the state of its unit.
 */
export class ArrivalGate {
  readonly clock = new EventClock();
  readonly silent: DeadlineWatch<DetectionUnit | StaleUnit>;
  readonly idle: DeadlineWatch<DetectionUnit | StaleUnit>;
  readonly steps = new StepWatch();
  readonly #holding = new Set<DetectionUnit>();
  /** Before this time of the clock it agrees with no record that is held. */
  #witnessedMs = Number.POSITIVE_INFINITY;
  /** Records so far that were the newest of their series, or group. */
  advances = 0;
  /** Called with each of them; null: nobody waits for one. */
  onAdvance: ((unit: DetectionUnit, timestampMs: number) => void) | null = null;

  /** @param all the units and stale states of the partition */
  constructor(all: () => Iterable<DetectionUnit | StaleUnit>) {
    this.silent = new DeadlineWatch(1, silenceDeadline, all);
    this.idle = new DeadlineWatch(2, idleDeadline, all);
  }

  admit(unit: DetectionUnit, observation: ReceivedObservation, outlets: GateOutlets): void {
    const { series, timestampMs } = observation;
    const { give, sink } = outlets;
    // Sent twice, it would agree with itself.
    const { unconfirmed } = unit.waiting;
    if (unconfirmed.length > 0 && unconfirmed.some((one) => one.series === series && one.timestampMs === timestampMs)) {
      sink.counters.duplicate(unit.bound, 0);
      return;
    }
    if (unconfirmed.length > 0 && timestampMs > unit.arrivedMs && this.#judgeHeld(unit, observation, outlets)) return;
    if (!isJump(unit, timestampMs) || this.#isReached(unit, timestampMs)) this.#pass(unit, observation, give);
    else if (this.#passAgreeing(unit, timestampMs, give)) this.#pass(unit, observation, give);
    else if (unit.waiting.awaitConfirmation(observation)) this.#hold(unit, observation);
    else refuse(unit, observation, sink);
  }

  /** The next record of a series confirms or refutes those that wait. Returns whether it has passed with them. */
  #judgeHeld(unit: DetectionUnit, observation: ReceivedObservation, { give, sink }: GateOutlets): boolean {
    const { series, timestampMs } = observation;
    const own = unit.waiting.unconfirmed.filter((held) => held.series === series);
    const goesOn = isJump(unit, timestampMs);
    const agreed = goesOn && own.some((held) => agree(unit, held.timestampMs, timestampMs));
    const ahead = (held: ReceivedObservation) =>
      held.timestampMs > timestampMs && !agree(unit, held.timestampMs, timestampMs);
    for (const held of own.filter((held) => !goesOn || ahead(held))) {
      this.#release(unit, held);
      refuse(unit, held, sink);
    }
    const left = goesOn ? own.filter((held) => !ahead(held)) : [];
    const confirmed = agreed ? left : left.slice(0, Math.max(0, left.length + 1 - JUMPS_HELD));
    for (const held of confirmed) this.#release(unit, held);
    const passing = agreed ? [...confirmed, observation].sort((a, b) => a.timestampMs - b.timestampMs) : confirmed;
    for (const one of passing) this.#pass(unit, one, give);
    return agreed;
  }

  /** Nothing older is waited for: the unit is silent, or the input has ended. */
  flush(unit: DetectionUnit, give: GiveObservation): void {
    for (const observation of unit.waiting.takeOutOfOrder()) give(unit, observation);
    for (const observation of unit.waiting.steps?.close(null) ?? []) give(unit, observation);
  }

  /** What the unit holds becomes dead letters: its state is given up, or the input has ended. */
  refuseHeld(unit: DetectionUnit, sink: ScoreSink): void {
    for (const { record, series } of unit.waiting.takeOutOfOrder()) {
      const detail = 'its series was forgotten, or started over, while it waited for older records';
      sink.outputs.deadLetter(record, { reason: 'late', detail, series, detector: unit.bound.config.name });
    }
    for (const { record, series, points } of unit.waiting.steps?.close(null) ?? []) {
      const detail = `its series was forgotten, or started over, while the step of its ${points} points was open`;
      sink.outputs.deadLetter(record, { reason: 'late', detail, series, detector: unit.bound.config.name });
    }
    for (const observation of unit.waiting.takeUnconfirmed()) refuse(unit, observation, sink);
    this.#holding.delete(unit);
  }

  /** After a restore of the unit. */
  adopt(unit: DetectionUnit): void {
    // A silent series whose next record waits has returned, and may fall silent again.
    const { unconfirmed, outOfOrder, forBackfill, steps } = unit.waiting;
    const waits = outOfOrder.length > 0 || forBackfill !== null || (steps?.points ?? 0) > 0;
    if (!unit.silent || waits) this.silent.watch(unit);
    this.idle.watch(unit);
    if (unconfirmed.length > 0) this.#holding.add(unit);
    for (const held of unconfirmed) this.#awaitWitness(unit, held);
    if (steps !== null) this.steps.adopt(unit, steps);
  }

  /** What the unit holds is another one's from now on. */
  forget(unit: DetectionUnit): void {
    this.#holding.delete(unit);
  }

  /** Units that are not held any more need not be watched. */
  forgetOthers(isHeld: (unit: DetectionUnit | StaleUnit) => boolean): void {
    this.silent.keepOnly(isHeld);
    this.idle.keepOnly(isHeld);
    this.steps.keepOnly(isHeld);
  }

  #pass(unit: DetectionUnit, observation: ReceivedObservation, give: GiveObservation): void {
    const { timestampMs } = observation;
    const { silenceAfter, latenessMs } = unit.bound.config.settings;
    if (!(timestampMs <= unit.arrivedMs)) {
      const isFirst = Number.isNaN(unit.arrivedMs);
      unit.arrivedMs = timestampMs;
      this.advances++;
      this.onAdvance?.(unit, timestampMs);
      this.clock.reach(timestampMs);
      // Before what is newer: others of a group may wait for them.
      if (this.steps.isDue(this.clock.ms)) this.steps.closeDue(this.clock.ms, give);
      noteHeard(unit, this.clock.ms);
      if (silenceAfter !== null) this.silent.watch(unit);
      if (isFirst) this.idle.watch(unit);
    }
    // Records may still wait under a lateness that is none any more. Points wait in their time steps.
    if (latenessMs === 0 && unit.waiting.outOfOrder.length === 0) give(unit, observation);
    else if (unit.waiting.steps?.aggregates) give(unit, observation);
    else for (const one of unit.waiting.reorder(observation, unit.arrivedMs - latenessMs)) give(unit, one);
    // It is known now that the member is not silent any more.
    if (unit.group !== null && silenceAfter !== null) this.silent.watch(unit);
    if (this.clock.ms >= this.#witnessedMs) this.#releaseWitnessed(give);
  }

  /** Looks at all that is held, so only when there may be something: many series may have wrong times for long. */
  #releaseWitnessed(give: GiveObservation): void {
    this.#witnessedMs = Number.POSITIVE_INFINITY;
    for (const unit of [...this.#holding]) {
      for (const observation of unit.waiting.unconfirmed) {
        if (this.#isReached(unit, observation.timestampMs)) {
          this.#release(unit, observation);
          this.#pass(unit, observation, give);
        } else this.#awaitWitness(unit, observation);
      }
    }
  }

  /** Records of others that wait and agree with this time confirm it, and are confirmed by it. */
  #passAgreeing(unit: DetectionUnit, timestampMs: number, give: GiveObservation): boolean {
    let found = false;
    for (const other of [...this.#holding]) {
      for (const observation of other.waiting.unconfirmed) {
        if (!agree(unit, observation.timestampMs, timestampMs)) continue;
        found = true;
        this.#release(other, observation);
        this.#pass(other, observation, give);
      }
    }
    return found;
  }

  #isReached(unit: DetectionUnit, timestampMs: number): boolean {
    return this.clock.ms >= witnessMs(unit, timestampMs);
  }

  #awaitWitness(unit: DetectionUnit, { timestampMs }: ReceivedObservation): void {
    this.#witnessedMs = Math.min(this.#witnessedMs, witnessMs(unit, timestampMs));
  }

  #hold(unit: DetectionUnit, observation: ReceivedObservation): void {
    this.#holding.add(unit);
    this.#awaitWitness(unit, observation);
  }

  #release(unit: DetectionUnit, observation: ReceivedObservation): void {
    unit.waiting.decided(observation);
    if (unit.waiting.unconfirmed.length === 0) this.#holding.delete(unit);
  }
}

/**
 * A series that catches up, far behind the others of its partition, is neither silent nor gone while its records come.
 */
function noteHeard(unit: DetectionUnit, clockMs: number): void {
  const { settings } = unit.bound.config;
  const isBehind = unit.arrivedMs + (silenceMs(settings) ?? settings.idleMs ?? Number.POSITIVE_INFINITY) < clockMs;
  if (isBehind) unit.heardMs = clockMs;
  else if (unit.heardMs <= unit.arrivedMs) unit.heardMs = Number.NEGATIVE_INFINITY;
}

function freqOf(unit: DetectionUnit): Frequency {
  return unit.bound.config.settings.freq;
}

/** From this event time of the partition on, it agrees with a record. */
function witnessMs(unit: DetectionUnit, timestampMs: number): number {
  return timestampMs - AGREEMENT_STEPS * meanStepMs(freqOf(unit));
}

function isJump(unit: DetectionUnit, timestampMs: number): boolean {
  const { freq, detectionSize } = unit.bound.config.settings;
  return gridPosition(freq, unit.arrivedMs, timestampMs) > Math.max(detectionSize, JUMP_STEPS_MIN);
}

function agree(unit: DetectionUnit, aMs: number, bMs: number): boolean {
  return Math.abs(gridPosition(freqOf(unit), aMs, bMs)) <= AGREEMENT_STEPS;
}

function refuse(unit: DetectionUnit, { record, series, timestampMs }: ReceivedObservation, sink: ScoreSink): void {
  const { name, settings } = unit.bound.config;
  const ahead = `more than ${Math.max(settings.detectionSize, JUMP_STEPS_MIN)} steps ahead of its series`;
  sink.outputs.deadLetter(record, {
    reason: 'time-unconfirmed',
    detail: `${new Date(timestampMs).toISOString()} is ${ahead}, and no other record agreed with it`,
    series,
    detector: name,
  });
}
