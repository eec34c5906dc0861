import { ServiceError } from '../ops/service-error.ts';
import { Entries, type StateChanges } from './entries.ts';

/** Format of a stored state. State of a newer version is refused, whichever of its entries comes first. */
export class KeptFormat {
  readonly #name: string;
  readonly #known: number;
  readonly #kept: Entries<number>;
  #unknownKey: string | null = null;

  /**
   * @param name of the state, for the error
   * @param known the newest format that is read, and the one that is written
   */
  constructor(name: string, known: number, changes: StateChanges) {
    this.#name = name;
    this.#known = known;
    this.#kept = new Entries('format', changes);
  }

  /** Restores a stored entry; false for another kind. Throws a ServiceError for a newer format. */
  restore(key: string, json: string | null): boolean {
    if (!this.#kept.restore(key, json)) return false;
    const found = this.#kept.get('') ?? this.#known;
    if (found > this.#known)
      throw this.#refusal(`has format ${found}, and this version reads formats 1 to ${this.#known}`);
    return true;
  }

  /** Notes an entry of an unknown kind. */
  noteUnknown(key: string): void {
    this.#unknownKey ??= key;
  }

  /** Call it after the last stored entry. Throws a ServiceError if one was unknown. */
  restored(): void {
    if (this.#unknownKey !== null)
      throw this.#refusal(`has an entry that this version does not know, ${this.#unknownKey}`);
    if (this.#kept.get('') !== this.#known) this.#kept.set('', this.#known);
  }

  #refusal(what: string): ServiceError {
    return new ServiceError('kept-by-newer', `the state of the ${this.#name} ${what}: run the version that wrote it`);
  }
}
