/** Recall and delay at one threshold that all series share, by the false alarms that it makes. */
import { maxWithin, type Segment, segmentsOf } from './event-segments.ts';

/** Rows before an incident in which an alarm belongs to it already. */
const ZONE_BEFORE = 2;
const MERGE_ROWS_MAX = 100;
const MERGE_SHARE = 0.02;
/** Thresholds are tried at ranks that grow by this factor. */
const LADDER_FACTOR = 1.04;

/** An incident and the rows in which an alarm finds it. */
export interface Zone {
  readonly event: Segment;
  readonly rows: Segment;
}

/** @param length rows of the whole file, of which `labels` may be a part: it sets how late an alarm may come */
export function zonesOf(labels: Uint8Array, length: number): Zone[] {
  const after = Math.floor(mergeRows(length) / 4);
  return segmentsOf(labels).map((event) => {
    const rows = { start: Math.max(0, event.start - ZONE_BEFORE), end: Math.min(labels.length, event.end + after) };
    return { event, rows };
  });
}

function mergeRows(length: number): number {
  return Math.min(MERGE_ROWS_MAX, Math.max(1, roundHalfEven(MERGE_SHARE * length)));
}

/** As numpy and Python round. */
function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  return value - floor === 0.5 ? floor + (floor % 2) : Math.round(value);
}

/** Alarms that one series raises at any threshold. */
export class SeriesAlarms {
  readonly scores: Float64Array;
  readonly zones: readonly Zone[];
  readonly #merge: number;
  readonly #peaks: readonly number[];
  /** Rows outside of every zone, and their scores. */
  readonly #free: Uint32Array;
  readonly #freeScores: Float64Array;

  /** @param scores finite, a row each, larger is more anomalous @param length rows of the whole file */
  constructor(labels: Uint8Array, scores: Float64Array, length: number) {
    this.scores = scores;
    this.#merge = mergeRows(length);
    this.zones = zonesOf(labels, length);
    this.#peaks = this.zones.map(({ rows }) => maxWithin(scores, rows));
    const inZone = new Uint8Array(labels.length);
    for (const { rows } of this.zones) inZone.fill(1, rows.start, rows.end);
    this.#free = Uint32Array.from(labels.keys()).filter((row) => inZone[row] === 0);
    this.#freeScores = Float64Array.from(this.#free, (row) => scores[row]);
  }

  /** Crossings outside of every zone; those close after the first of an alarm are the same alarm. */
  falseAlarms(threshold: number): number {
    let count = 0;
    let until = -1;
    for (let i = 0; i < this.#free.length; i++) {
      if (this.#freeScores[i] < threshold || this.#free[i] < until) continue;
      count++;
      until = this.#free[i] + this.#merge;
    }
    return count;
  }

  /** For each incident whether it is found. */
  found(threshold: number): boolean[] {
    return this.#peaks.map((peak) => peak >= threshold);
  }

  /** For each incident the rows from its start to its first alarm; null where none finds it. */
  delays(threshold: number): (number | null)[] {
    return this.zones.map(({ event, rows }) => {
      for (let row = rows.start; row < rows.end; row++) {
        if (this.scores[row] >= threshold) return Math.max(0, row - event.start);
      }
      return null;
    });
  }
}

/**
 * The lowest threshold such that it and all higher ones stay within a budget of false alarms over all these series;
 * infinite where none does.
 * @param perThousand false alarms in 1,000 rows
 */
export function thresholdAtBudget(series: readonly SeriesAlarms[], perThousand = 1): number {
  const rows = series.reduce((sum, { scores }) => sum + scores.length, 0);
  const budget = (rows / 1_000) * perThousand;
  let threshold = Number.POSITIVE_INFINITY;
  for (const candidate of ladder(series, rows)) {
    if (series.reduce((sum, alarms) => sum + alarms.falseAlarms(candidate), 0) > budget) break;
    threshold = candidate;
  }
  return threshold;
}

/** Scores of all series at growing ranks, the largest first. */
function ladder(series: readonly SeriesAlarms[], rows: number): number[] {
  const ascending = new Float64Array(rows);
  let filled = 0;
  for (const { scores } of series) {
    ascending.set(scores, filled);
    filled += scores.length;
  }
  ascending.sort();
  const rungs: number[] = [];
  for (let rank = 1; rank <= rows; rank = Math.max(rank + 1, Math.floor(rank * LADDER_FACTOR))) {
    const rung = ascending[rows - rank];
    if (rung !== rungs.at(-1)) rungs.push(rung);
  }
  return rungs;
}
