/** Rules that people write by hand: windows over the values alone. */
import type { SeriesInput } from '../detection/labelled-data.ts';
import type { Judged } from './detectors.ts';

const DEVIATIONS = 3;
const HOUR_MS = 3_600_000;
const WEEK_MS = 168 * HOUR_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Sums of the last values of a window, without those that are missing. */
class Window {
  readonly #values: Float64Array;
  readonly #rows: number;
  #sum = 0;
  #squares = 0;
  #count = 0;

  constructor(values: Float64Array, rows: number) {
    this.#values = values;
    this.#rows = rows;
  }

  get count(): number {
    return this.#count;
  }
  get mean(): number {
    return this.#sum / this.#count;
  }
  get deviation(): number {
    return Math.sqrt(Math.max(0, this.#squares / this.#count - this.mean ** 2));
  }

  /** Takes the value of a row in, and the one that leaves out. */
  take(row: number): void {
    this.#add(row, 1);
    if (row >= this.#rows) this.#add(row - this.#rows, -1);
  }

  #add(row: number, sign: 1 | -1): void {
    const value = this.#values[row] - this.#values[0];
    if (Number.isNaN(value)) return;
    this.#sum += sign * value;
    this.#squares += sign * value * value;
    this.#count += sign;
  }
}

/** Distance from the mean of the values before, in their deviations; an alarm beyond three. */
export function threeDeviations({ channels: [values] }: SeriesInput, rows: number): Judged {
  const window = new Window(values, rows);
  return judged(values, (value, row) => {
    const score = window.count >= Math.min(rows, 30) ? distance(value - values[0], window) : Number.NaN;
    window.take(row);
    return score;
  });
}

/** `(avg_over_time(x[1h]) - avg_over_time(x[1w])) / stddev_over_time(x[1w])`; an alarm beyond three. */
export function promqlScore({ channels: [values], stepMs }: SeriesInput): Judged {
  const [hour, week] = [HOUR_MS, WEEK_MS].map((ms) => new Window(values, Math.max(1, Math.round(ms / stepMs))));
  return judged(values, (_, row) => {
    hour.take(row);
    week.take(row);
    return hour.count === 0 || week.count < 2 ? Number.NaN : distance(hour.mean, week);
  });
}

function distance(value: number, { mean, deviation }: Window): number {
  return Math.abs(value - mean) / Math.max(deviation, 1e-9);
}

function judged(values: Float64Array, scoreOf: (value: number, row: number) => number): Judged {
  const scores = values.map(scoreOf);
  return { scores, alarms: Uint8Array.from(scores, (score) => Number(score > DEVIATIONS)) };
}
