import type { Suspicion } from '../../records/diagnostics/diagnostic.ts';

/** The newest points of a series, a bit each: so many are judged, from so many on. */
const [POINTS_MAX, POINTS_MIN] = [30, 20];
/** Share of the points that fall, of a counter that is none, or has several senders. */
const FALLS_SHARE_MIN = 0.2;
/** So many points of an earlier start are no deployment whose processes overlap. */
const TURNS_MIN = 3;

/** Judges the newest points of counters. It is in memory alone: a restart judges again. */
export class CounterHealth {
  /** Those of which a point was atypical. */
  readonly #series = new Map<string, { count: number; falls: number; turns: number }>();

  note(series: string, { inTurn = false, fell = false }: { readonly inTurn?: boolean; readonly fell?: boolean }): void {
    let newest = this.#series.get(series);
    if (newest === undefined) {
      if (!inTurn && !fell) return;
      newest = { count: 0, falls: 0, turns: 0 };
      this.#series.set(series, newest);
    }
    newest.count = Math.min(newest.count + 1, POINTS_MAX);
    newest.falls = shifted(newest.falls, fell);
    newest.turns = shifted(newest.turns, inTurn);
    if (newest.falls === 0 && newest.turns === 0) this.#series.delete(series);
  }

  of(series: string): Suspicion | null {
    const newest = this.#series.get(series);
    if (newest === undefined) return null;
    if (bitsOf(newest.turns) >= TURNS_MIN) return 'senders';
    return newest.count >= POINTS_MIN && bitsOf(newest.falls) >= newest.count * FALLS_SHARE_MIN ? 'resets' : null;
  }

  forget(series: string): void {
    this.#series.delete(series);
  }
}

const shifted = (bits: number, bit: boolean) => ((bits << 1) | Number(bit)) & ((1 << POINTS_MAX) - 1);

function bitsOf(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}
