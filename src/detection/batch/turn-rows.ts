/** Rows that are graded in one turn: some 10 ms. */
const TURN_ROWS = 2_048;
/** Values that are planned or judged in the time in which one row is graded. */
const VALUES_OF_ROW = 16;

/** Counts what is done in one turn after the other, so that others have theirs between them. */
export class TurnRows {
  #rows = 0;

  /** True if the turn is over once so many rows are graded. */
  isOver(graded: number): boolean {
    this.#rows += graded;
    const over = this.#rows >= TURN_ROWS;
    if (over) this.#rows = 0;
    return over;
  }

  /** The same of values that are planned or judged. */
  isOverWith({ length }: { readonly length: number }): boolean {
    return this.isOver(length / VALUES_OF_ROW);
  }
}
