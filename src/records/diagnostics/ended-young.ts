import { EXAMPLES_MAX, type Finding } from './finding.ts';

/** Counted are the series of the newest days: between one and two. */
export const YOUNG_PERIOD_MS = 86_400_000;
/** So many series make a finding. */
export const YOUNG_MIN = 10;
/** Series of one detector that are remembered in a period; more are as many. */
export const YOUNG_MAX = 1_000;

/** Series that ended before they were calibrated, by detector. */
export type YoungSeries = Map<string, Set<string>>;

export function addYoung(young: YoungSeries, detector: string, series: Iterable<string>): void {
  let known = young.get(detector);
  if (known === undefined) {
    known = new Set();
    young.set(detector, known);
  }
  for (const one of series) if (known.size < YOUNG_MAX) known.add(one);
}

/** Series of the newest days that ended before they were calibrated. Bounded by the detectors. */
export class EndedYoung {
  #sinceMs = Number.NEGATIVE_INFINITY;
  #earlier: YoungSeries = new Map();
  #newest: YoungSeries = new Map();

  /** @param clockMs event time */
  add(young: YoungSeries, clockMs: number): void {
    if (clockMs >= this.#sinceMs + YOUNG_PERIOD_MS) {
      this.#earlier = clockMs >= this.#sinceMs + 2 * YOUNG_PERIOD_MS ? new Map() : this.#newest;
      this.#newest = new Map();
      this.#sinceMs = clockMs;
    }
    for (const [detector, series] of young) addYoung(this.#newest, detector, series);
  }

  findings(): Finding[] {
    return [...new Set([...this.#earlier.keys(), ...this.#newest.keys()])].flatMap((detector): Finding[] => {
      const series = new Set([...(this.#newest.get(detector) ?? []), ...(this.#earlier.get(detector) ?? [])]);
      const examples = [...series].slice(0, EXAMPLES_MAX);
      return series.size < YOUNG_MIN ? [] : [{ kind: 'young', detector, series: series.size, examples }];
    });
  }
}
