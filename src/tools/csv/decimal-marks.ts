import type { Separator } from './separator.ts';

const WITH_POINT = /^[+-]?(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const WITH_COMMA = /^[+-]?(?:\d+,\d*|,\d+)(?:[eE][+-]?\d+)?$/;

type ReadNumber =
  /** With a decimal point. What is no number stays as it is, so that the refusal can quote it. */
  { readonly kind: 'read'; readonly text: string } | { readonly kind: 'refused'; readonly reason: string };

/**
 * Reads the numbers of a file. They have a decimal point or, where commas separate nothing, a decimal comma: as the
 * first one that has either. A number with the other mark would be read wrong by a thousand, and is refused.
 */
export class DecimalMarks {
  readonly #mayBeComma: boolean;
  #mark: '.' | ',' | null = null;
  #isNew = false;

  constructor(separator: Separator) {
    this.#mayBeComma = separator !== ',';
  }

  /** True once, after the first number with a decimal comma. */
  takeComma(): boolean {
    const isNew = this.#isNew;
    this.#isNew = false;
    return isNew;
  }

  read(field: string): ReadNumber {
    const mark = !this.#mayBeComma ? null : WITH_COMMA.test(field) ? ',' : WITH_POINT.test(field) ? '.' : null;
    if (mark === null) return { kind: 'read', text: field };
    if (this.#mark === null) {
      this.#mark = mark;
      this.#isNew = mark === ',';
    }
    if (mark !== this.#mark) {
      const before = this.#mark === ',' ? 'a decimal comma' : 'a decimal point';
      return { kind: 'refused', reason: `the value is ${JSON.stringify(field)}, and numbers before it have ${before}` };
    }
    return { kind: 'read', text: field.replace(',', '.') };
  }
}
