import { meanStepMs } from '../../calendar/frequency.ts';
import type { StreamDetectionSettings } from '../../detector/settings.ts';
import type { SilenceCause } from '../record/score-record.ts';
import type { ReceivedObservation } from './batch-outcome.ts';
import type { DetectionUnit } from './detection-unit.ts';

/** After so long without a record a unit is silent; null where that means nothing. */
export function silenceMs({ freq, silenceAfter }: StreamDetectionSettings): number | null {
  return silenceAfter === null ? null : (silenceAfter + 0.5) * meanStepMs(freq);
}

/** It never moves back, so that a restore watches as a worker that was not interrupted. */
function deadlineOf(unit: DetectionUnit): number {
  const newestMs = Math.max(unit.arrivedMs, unit.heardMs);
  return newestMs + (silenceMs(unit.bound.config.settings) ?? Number.POSITIVE_INFINITY);
}

/**
 * Whether a unit is silent no longer than its whole partition was, which one move of event time has just ended. Once
 * between two records of the unit: the others may be slower than it.
 */
export function pausedWithPartition({ bound, arrivedMs, heardMs }: DetectionUnit, moveMs: number): boolean {
  return heardMs <= arrivedMs && moveMs > (silenceMs(bound.config.settings) ?? Number.POSITIVE_INFINITY);
}

const NONE: readonly DetectionUnit[] = [];

/** What is given to a unit in place of an observation. Its time is that at which the last missing one was due. */
export function silenceMark(
  unit: DetectionUnit,
  { offset, cause }: { readonly offset: number; readonly cause: SilenceCause },
): ReceivedObservation {
  const { freq, silenceAfter } = unit.bound.config.settings;
  const timestampMs = Math.round(unit.arrivedMs + (silenceAfter ?? 0) * meanStepMs(freq));
  const record = { partition: -1, offset, timestampMs, key: null, value: null };
  return {
    series: unit.key,
    group: null,
    timestampMs,
    value: Number.NaN,
    record,
    silence: { cause, lastOffset: unit.newestOffset },
  };
}

/**
 * Finds the units whose deadline has passed: a binary heap of units by deadline. A record moves the deadline of its
 * unit, and nothing here: an entry that has become too early is put back when it comes up. So a unit has one entry,
 * which moves once a deadline and not once a record.
 */
export class SilenceWatch {
  readonly #deadlines: number[] = [];
  readonly #units: DetectionUnit[] = [];
  readonly #watched = new WeakSet<DetectionUnit>();

  watch(unit: DetectionUnit): void {
    if (unit.bound.config.settings.silenceAfter === null || this.#watched.has(unit)) return;
    this.#watched.add(unit);
    this.#push(deadlineOf(unit), unit);
  }

  /** Whether `takeDue` may find one. */
  isDue(timeMs: number): boolean {
    return this.#deadlines[0] < timeMs;
  }

  /** Takes out the units whose deadline lies before `timeMs`, in an order that does not depend on how they came in. */
  takeDue(timeMs: number): readonly DetectionUnit[] {
    if (!this.isDue(timeMs)) return NONE;
    const due: DetectionUnit[] = [];
    while (this.#deadlines.length > 0 && this.#deadlines[0] < timeMs) {
      const unit = this.#pop();
      const deadline = deadlineOf(unit);
      if (deadline >= timeMs) this.#push(deadline, unit);
      else due.push(unit);
    }
    for (const unit of due) this.#watched.delete(unit);
    return due.length < 2 ? due : due.sort((a, b) => deadlineOf(a) - deadlineOf(b) || (a.key < b.key ? -1 : 1));
  }

  #push(deadline: number, unit: DetectionUnit): void {
    let at = this.#deadlines.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#deadlines[parent] <= deadline) break;
      this.#set(at, this.#deadlines[parent], this.#units[parent]);
      at = parent;
    }
    this.#set(at, deadline, unit);
  }

  #pop(): DetectionUnit {
    const [first] = this.#units;
    const deadline = this.#deadlines.pop()!;
    const unit = this.#units.pop()!;
    const { length } = this.#deadlines;
    if (length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child + 1 < length && this.#deadlines[child + 1] < this.#deadlines[child]) child++;
      if (child >= length || this.#deadlines[child] >= deadline) break;
      this.#set(at, this.#deadlines[child], this.#units[child]);
      at = child;
    }
    this.#set(at, deadline, unit);
    return first;
  }

  #set(at: number, deadline: number, unit: DetectionUnit): void {
    this.#deadlines[at] = deadline;
    this.#units[at] = unit;
  }
}
