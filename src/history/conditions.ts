import type { HistoryValue } from './history-database.ts';

/** Conditions of a statement with their parameters, numbered in order. */
export class Conditions {
  readonly values: HistoryValue[] = [];
  readonly #texts: string[] = [];

  /** The mark of a parameter. */
  mark(value: HistoryValue): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  add(text: string): this {
    this.#texts.push(text);
    return this;
  }

  /** `column = value`, unless the value is null. */
  equals(column: string, value: HistoryValue): this {
    return value === null ? this : this.add(`${column} = ${this.mark(value)}`);
  }

  /** With WHERE; empty without conditions. */
  get where(): string {
    return this.#texts.length === 0 ? '' : `WHERE ${this.#texts.join(' AND ')}`;
  }
}
