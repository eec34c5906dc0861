import type { SeriesParts } from './series-parts.ts';

export interface CountedSeries {
  readonly series: string;
  readonly dimensions: SeriesParts['dimensions'];
}

/** Number of series that the onsets of a window have, and how many values in each of the dimensions that count. */
export class PartCounts {
  readonly #series = new Map<string, number>();
  readonly #values: ReadonlyMap<string, Map<string, number>>;

  constructor(dimensions: readonly string[]) {
    this.#values = new Map(dimensions.map((name) => [name, new Map()]));
  }

  add(counted: CountedSeries): void {
    this.#change(counted, 1);
  }

  remove(counted: CountedSeries): void {
    this.#change(counted, -1);
  }

  /** Series, or the values of the dimension in which they differ least: more onsets never make it less. */
  get fewest(): number {
    let fewest = this.#series.size;
    for (const { size } of this.#values.values()) fewest = Math.min(fewest, size);
    return fewest;
  }

  #change({ series, dimensions }: CountedSeries, by: number): void {
    change(this.#series, series, by);
    for (const { name, value } of dimensions) {
      const values = this.#values.get(name);
      if (values !== undefined) change(values, value, by);
    }
  }
}

/** True if there are so many series, and so many values in each of the dimensions: as `fewest`, at less cost. */
export function haveParts(counted: readonly CountedSeries[], dimensions: readonly string[], least: number): boolean {
  return [null, ...dimensions].every((dimension) => {
    const known = new Set<string>();
    return counted.some((each) => {
      const part = dimension === null ? each.series : each.dimensions.find(({ name }) => name === dimension)?.value;
      return part !== undefined && known.add(part).size >= least;
    });
  });
}

function change(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
