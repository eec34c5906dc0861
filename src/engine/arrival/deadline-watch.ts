const NONE: readonly never[] = [];

/** Entry of a watch. There are many: a set of those that are watched would take more memory than the entries. */
export interface UnderWatch {
  readonly key: string;
  /** A bit for each watch that has an entry of it. */
  watches: number;
}

/**
 * Finds the units whose deadline has passed. A record moves the deadline of its unit, and nothing here: what was known
 * of it has become too early, and is looked up again when that comes up.
 *
 *   near   before `nearMs`: in a binary heap by deadline
 *   far    all others: in no list, since most units are among them. By the first of their deadlines, `farMs`, all units
 *          are looked at, and those of the nearer half of the time ahead become near
 */
export class DeadlineWatch<U extends UnderWatch> {
  readonly #bit: number;
  readonly #deadlineOf: (unit: U) => number;
  readonly #all: (() => Iterable<U>) | null;
  #deadlines: number[] = [];
  #units: U[] = [];
  #nearMs: number;
  #farMs = Number.POSITIVE_INFINITY;

  /**
   * @param bit of `watches`: another one for each watch of the same units
   * @param deadlineOf a time that never moves back for a unit; one without a finite deadline is not watched
   * @param all the units that may be watched; null: they are few, and each is in the heap
   */
  constructor(bit: number, deadlineOf: (unit: U) => number, all: (() => Iterable<U>) | null) {
    this.#bit = bit;
    this.#deadlineOf = deadlineOf;
    this.#all = all;
    this.#nearMs = all === null ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  }

  watch(unit: U): void {
    if ((unit.watches & this.#bit) === 0) this.#add(unit, this.#deadlineOf(unit));
  }

  /** True if `popDue` may find one. */
  isDue(timeMs: number): boolean {
    return this.#farMs < timeMs || this.#deadlines[0] < timeMs;
  }

  /** Takes out the units whose deadline lies before `timeMs`, in an order that does not depend on how they came in. */
  popDue(timeMs: number): readonly U[] {
    if (!this.isDue(timeMs)) return NONE;
    if (this.#farMs < timeMs) this.#lookAtAll(timeMs);
    const due: U[] = [];
    while (this.#deadlines.length > 0 && this.#deadlines[0] < timeMs) {
      const unit = this.#pop();
      unit.watches &= ~this.#bit;
      const deadline = this.#deadlineOf(unit);
      if (deadline >= timeMs) this.#add(unit, deadline);
      else due.push(unit);
    }
    const deadlineOf = this.#deadlineOf;
    return due.length < 2 ? due : due.sort((a, b) => deadlineOf(a) - deadlineOf(b) || (a.key < b.key ? -1 : 1));
  }

  /** Keeps the entries of these units alone: the others are gone. */
  keepOnly(isHeld: (unit: U) => boolean): void {
    const units = this.#units;
    for (const unit of units) unit.watches &= ~this.#bit;
    this.#refill(units.filter(isHeld));
  }

  /** Half of the time ahead is near from now on: it lasts long, and units that continue are beyond it. */
  #lookAtAll(timeMs: number): void {
    const watched = [...(this.#all?.() ?? NONE)].filter(({ watches }) => (watches & this.#bit) !== 0);
    const deadlines = watched.map((unit) => this.#deadlineOf(unit));
    const lastMs = deadlines.reduce((last, each) => (Number.isFinite(each) ? Math.max(last, each) : last), timeMs);
    this.#nearMs = timeMs + (lastMs - timeMs) / 2;
    this.#farMs = Number.POSITIVE_INFINITY;
    this.#refill(watched, deadlines);
  }

  #refill(units: readonly U[], deadlines: readonly number[] = units.map((unit) => this.#deadlineOf(unit))): void {
    [this.#deadlines, this.#units] = [[], []];
    for (const [i, unit] of units.entries()) {
      unit.watches &= ~this.#bit;
      this.#add(unit, deadlines[i]);
    }
  }

  #add(unit: U, deadline: number): void {
    if (!Number.isFinite(deadline)) return;
    unit.watches |= this.#bit;
    if (deadline < this.#nearMs) this.#push(deadline, unit);
    else this.#farMs = Math.min(this.#farMs, deadline);
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
