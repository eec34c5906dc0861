import { Entries, type StateChanges } from './entries.ts';

/** Position of a reader: the next offset of each partition, in the topic with this id (null: not known). */
export interface EventPlace {
  readonly topicId: string | null;
  readonly positions: ReadonlyMap<number, number>;
}

/** The place that is kept with what was decided there. */
export class KeptPlace {
  readonly #positions: Entries<number>;
  readonly #topicId: Entries<string>;

  /** @param prefix of its keys, where there is more than one place */
  constructor(changes: StateChanges, prefix = '') {
    this.#positions = new Entries(`${prefix}position/`, changes);
    this.#topicId = new Entries(`${prefix}topic-id`, changes);
  }

  restore(key: string, json: string | null): boolean {
    return this.#positions.restore(key, json) || this.#topicId.restore(key, json);
  }

  get(): EventPlace | null {
    if (this.#positions.size === 0) return null;
    const positions = new Map([...this.#positions.all()].map(([partition, offset]) => [Number(partition), offset]));
    return { topicId: this.#topicId.get('') ?? null, positions };
  }

  /** The next reading begins as the first one did. */
  clear(): void {
    for (const [partition] of this.#positions.all()) this.#positions.delete(partition);
    this.#topicId.delete('');
  }

  moveTo({ topicId, positions }: EventPlace): void {
    if (topicId !== null && this.#topicId.get('') !== topicId) this.#topicId.set('', topicId);
    for (const [partition, offset] of positions) {
      if (this.#positions.get(String(partition)) !== offset) this.#positions.set(String(partition), offset);
    }
  }
}
