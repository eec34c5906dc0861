/** What came out for an input offset: the bytes of a score, or the reason of a dead letter. */
export interface Outcome {
  readonly partition: number;
  readonly offset: number;
  readonly kind: 'observation' | 'silent' | 'returned';
  readonly content: string;
}

export interface Differences {
  readonly compared: number;
  readonly lost: number;
  readonly twice: number;
  readonly different: number;
  readonly examples: readonly string[];
}

const EXAMPLES_MAX = 10;

/**
 * Compares what the workers wrote with what the oracle expects, record by record and in any order. Keeps only what
 * has no counterpart yet.
 */
export class Comparison {
  readonly #expected = new Map<string, string>();
  readonly #actual = new Map<string, string>();
  readonly #seen = new SeenOutcomes();
  readonly #examples: string[] = [];
  #compared = 0;
  #twice = 0;
  #different = 0;

  expect(outcome: Outcome): void {
    this.#match(placeOf(outcome), outcome.content, this.#actual, this.#expected);
  }

  found(outcome: Outcome): void {
    const place = placeOf(outcome);
    if (!this.#seen.add(outcome)) {
      this.#twice++;
      this.#example(`twice: ${place} ${outcome.content}`);
      return;
    }
    this.#match(place, outcome.content, this.#expected, this.#actual);
  }

  /** What has no counterpart is lost where it was expected, and different where it was not. */
  conclude(): Differences {
    for (const [place, content] of this.#expected) this.#example(`lost: ${place} ${content}`);
    for (const [place, content] of this.#actual) this.#example(`not expected: ${place} ${content}`);
    return {
      compared: this.#compared,
      lost: this.#expected.size,
      twice: this.#twice,
      different: this.#different + this.#actual.size,
      examples: this.#examples,
    };
  }

  get waiting(): number {
    return this.#expected.size + this.#actual.size;
  }

  #match(place: string, content: string, others: Map<string, string>, own: Map<string, string>): void {
    const other = others.get(place);
    if (other === undefined) {
      own.set(place, content);
      return;
    }
    others.delete(place);
    this.#compared++;
    if (other === content) return;
    this.#different++;
    this.#example(`different: ${place}\n  ${other}\n  ${content}`);
  }

  #example(text: string): void {
    if (this.#examples.length < EXAMPLES_MAX) this.#examples.push(text);
  }
}

function placeOf({ partition, offset, kind }: Outcome): string {
  return `${partition}/${offset}${kind === 'observation' ? '' : `/${kind}`}`;
}

const OFFSETS_MIN = 1 << 16;

/** Which outcomes were found, in a bit an offset: a run of hours has more than a set can hold. */
class SeenOutcomes {
  readonly #bits = new Map<string, Uint8Array>();

  /** False where it was seen before. */
  add({ partition, offset, kind }: Outcome): boolean {
    const name = `${partition}/${kind}`;
    let bits = this.#bits.get(name) ?? new Uint8Array(OFFSETS_MIN / 8);
    if (offset >= bits.length * 8) {
      const longer = new Uint8Array(2 ** Math.ceil(Math.log2(offset / 8 + 1)));
      longer.set(bits);
      bits = longer;
    }
    this.#bits.set(name, bits);
    const [at, bit] = [Math.floor(offset / 8), 1 << (offset % 8)];
    const isNew = (bits[at] & bit) === 0;
    bits[at] |= bit;
    return isNew;
  }
}
