import { idConditions } from '../../records/series/id-expression.ts';
import type { HistoryValue } from './history-database.ts';

/** Conditions of a statement with their parameters, numbered in order. */
export class Conditions {
  readonly values: HistoryValue[] = [];
  readonly #texts: string[] = [];

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

  /** The column is the id of a series that a glob or matchers choose. Throws a RangeError as `idConditions`. */
  chosen(column: string, pattern: string | null): this {
    return pattern === null ? this : this.add(this.choice(column, pattern));
  }

  /** As a text, which may be a part of another condition. */
  choice(column: string, pattern: string): string {
    const all = idConditions(pattern).map((any) =>
      any.map(({ expression, wanted }) => {
        const matches = `regexp_matches(${column}, ${this.mark(expression)}, 's')`;
        return wanted ? matches : `NOT ${matches}`;
      }),
    );
    return `(${all.map((any) => `(${any.join(' OR ')})`).join(' AND ')})`;
  }

  get where(): string {
    return this.#texts.length === 0 ? '' : `WHERE ${this.#texts.join(' AND ')}`;
  }
}
