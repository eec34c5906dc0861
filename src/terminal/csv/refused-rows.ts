import { shortened } from './shortened.ts';

const SHOWN_MAX = 10;
/** A reason quotes a field, which may be as long as a record. */
const REASON_CHARACTERS_MAX = 300;

/** Refused rows: the first ones with line and reason, the others counted. */
export class Refusals {
  count = 0;
  readonly #shown: string[] = [];

  add(line: number, reason: string): void {
    this.count++;
    if (this.#shown.length < SHOWN_MAX) this.#shown.push(`  line ${line}: ${shortened(reason, REASON_CHARACTERS_MAX)}`);
  }

  /** Lines to print; none where nothing was refused. */
  lines(): readonly string[] {
    if (this.count === 0) return [];
    const more = this.count - this.#shown.length;
    const rest = more === 0 ? [] : [`  and ${more} more`];
    return [`${this.count} ${this.count === 1 ? 'row was' : 'rows were'} refused:`, ...this.#shown, ...rest];
  }
}
