/** Times and values of one series, in order of time: milliseconds since the epoch. */
export interface SeriesColumn {
  readonly id: string;
  readonly times: Float64Array;
  readonly values: Float64Array;
}

const FIRST_LENGTH = 64;

/** Observations of many series, 16 bytes each. */
export class SeriesColumns {
  readonly #observationsMax: number;
  readonly #columns = new Map<string, { times: Float64Array; values: Float64Array; length: number }>();
  #observations = 0;

  /** @param observationsMax `add` refuses more */
  constructor(observationsMax: number) {
    this.#observationsMax = observationsMax;
  }

  get observations(): number {
    return this.#observations;
  }

  get size(): number {
    return this.#columns.size;
  }

  /** Returns false, and changes nothing, where there is no room for another observation. */
  add(id: string, timestampMs: number, value: number): boolean {
    if (this.#observations >= this.#observationsMax) return false;
    this.#observations++;
    let column = this.#columns.get(id);
    if (column === undefined) {
      column = { times: new Float64Array(FIRST_LENGTH), values: new Float64Array(FIRST_LENGTH), length: 0 };
      this.#columns.set(id, column);
    }
    if (column.length === column.times.length) {
      column.times = doubled(column.times);
      column.values = doubled(column.values);
    }
    column.times[column.length] = timestampMs;
    column.values[column.length++] = value;
    return true;
  }

  /** Rows that `all` leaves out; null if there are none. */
  repeated(): RepeatedTimes | null {
    let first: Pick<RepeatedTimes, 'series' | 'timestampMs'> | null = null;
    let [rows, conflicting] = [0, 0];
    for (const [series, { times, values, length }] of this.#columns) {
      const known = new Map<number, number>();
      for (let i = 0; i < length; i++) {
        const [timestampMs, value] = [times[i], values[i]];
        const earlier = known.get(timestampMs);
        if (earlier === undefined) known.set(timestampMs, value);
        else {
          first ??= { series, timestampMs };
          rows++;
          if (value !== earlier) conflicting++;
        }
      }
    }
    return first && { ...first, rows, conflicting };
  }

  /** Each series by time. Of several values at one time the first counts, as in the stream. */
  *all(): Generator<SeriesColumn> {
    for (const [id, { times, values, length }] of this.#columns) {
      yield inOrder(id, times.subarray(0, length), values.subarray(0, length));
    }
  }
}

/** Rows of a series that have the time of another one. */
interface RepeatedTimes {
  readonly rows: number;
  /** Rows of them with another value. */
  readonly conflicting: number;
  /** The first one, for messages. */
  readonly series: string;
  readonly timestampMs: number;
}

function doubled(column: Float64Array): Float64Array {
  const larger = new Float64Array(2 * column.length);
  larger.set(column);
  return larger;
}

function inOrder(id: string, times: Float64Array, values: Float64Array): SeriesColumn {
  if (times.every((time, i) => i === 0 || times[i - 1] < time)) return { id, times, values };
  const order = Array.from(times.keys()).sort((a, b) => times[a] - times[b]);
  const kept = order.filter((at, i) => i === 0 || times[order[i - 1]] < times[at]);
  return { id, times: Float64Array.from(kept, (at) => times[at]), values: Float64Array.from(kept, (at) => values[at]) };
}

export function meansOf({ id, times, values }: SeriesColumn, stepMs: number): SeriesColumn {
  const [starts, means]: [number[], number[]] = [[], []];
  for (let i = 0; i < times.length; ) {
    const startMs = Math.floor(times[i] / stepMs) * stepMs;
    let [sum, count] = [0, 0];
    for (; i < times.length && times[i] < startMs + stepMs; i++) {
      sum += values[i];
      count++;
    }
    starts.push(startMs);
    means.push(sum / count);
  }
  return { id, times: Float64Array.from(starts), values: Float64Array.from(means) };
}

/**
 * A counter as its increase a second, as `as: rate` of a detector reads it: a fall is a reset to 0, and there is no
 * extrapolation.
 */
export function rateOf({ id, times, values }: SeriesColumn): SeriesColumn {
  const count = Math.max(0, times.length - 1);
  const rates = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const increase = values[i + 1] < values[i] ? values[i + 1] : values[i + 1] - values[i];
    rates[i] = (1_000 * increase) / (times[i + 1] - times[i]);
  }
  return { id, times: times.subarray(1), values: rates };
}
