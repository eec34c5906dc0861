const NONE: readonly never[] = [];

/** What may be watched. There is much of it: a set of those that are would take more memory than the entries. */
export interface UnderWatch {
  readonly key: string;
  /** A bit for each watch that has an entry of it. */
  watches: number;
}

/**
 * Finds the units whose deadline has passed: a binary heap by deadline. A record moves the deadline of its unit, and
 * nothing here: an entry that has become too early is put back when it comes up. So a unit has one entry, which moves
 * once a deadline and not once a record.
 */
export class DeadlineWatch<U extends UnderWatch> {
  readonly #bit: number;
  readonly #deadlineOf: (unit: U) => number;
  #deadlines: number[] = [];
  #units: U[] = [];

  /**
   * @param bit of `watches`: another one for each watch of the same units
   * @param deadlineOf a time that never moves back for a unit; one without a finite deadline is not watched
   */
  constructor(bit: number, deadlineOf: (unit: U) => number) {
    this.#bit = bit;
    this.#deadlineOf = deadlineOf;
  }

  watch(unit: U): void {
    if ((unit.watches & this.#bit) !== 0) return;
    const deadline = this.#deadlineOf(unit);
    if (!Number.isFinite(deadline)) return;
    unit.watches |= this.#bit;
    this.#push(deadline, unit);
  }

  /** Whether `takeDue` may find one. */
  isDue(timeMs: number): boolean {
    return this.#deadlines[0] < timeMs;
  }

  /** Takes out the units whose deadline lies before `timeMs`, in an order that does not depend on how they came in. */
  takeDue(timeMs: number): readonly U[] {
    if (!this.isDue(timeMs)) return NONE;
    const due: U[] = [];
    while (this.#deadlines.length > 0 && this.#deadlines[0] < timeMs) {
      const unit = this.#pop();
      const deadline = this.#deadlineOf(unit);
      if (deadline >= timeMs) this.#push(deadline, unit);
      else due.push(unit);
    }
    for (const unit of due) unit.watches &= ~this.#bit;
    const deadlineOf = this.#deadlineOf;
    return due.length < 2 ? due : due.sort((a, b) => deadlineOf(a) - deadlineOf(b) || (a.key < b.key ? -1 : 1));
  }

  /** Keeps the entries of these units alone: the others are gone. */
  keepOnly(isHeld: (unit: U) => boolean): void {
    const units = this.#units;
    [this.#deadlines, this.#units] = [[], []];
    for (const unit of units) {
      unit.watches &= ~this.#bit;
      if (isHeld(unit)) this.watch(unit);
    }
  }

  #push(deadline: number, unit: U): void {
    let at = this.#deadlines.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#deadlines[parent] <= deadline) break;
      this.#set(at, this.#deadlines[parent], this.#units[parent]);
      at = parent;
    }
    this.#set(at, deadline, unit);
  }

  #pop(): U {
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

  #set(at: number, deadline: number, unit: U): void {
    this.#deadlines[at] = deadline;
    this.#units[at] = unit;
  }
}
