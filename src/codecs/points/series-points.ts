/** Contents of records of metric pipelines: points of many series, each with a name and labels. */
import type { PointExtras } from '../../records/point-extras.ts';
import type { SeriesLabels } from '../../records/series/series-id.ts';
import type { SeriesName } from './series-names.ts';

/** Points of one series, in the order of the record. */
export interface SeriesPoints {
  /** The canonical id: `name{label="value",...}`, or the name alone. */
  readonly id: string;
  readonly name: string;
  readonly labels: SeriesLabels;
  /** Milliseconds since the epoch. Not checked here: the consumer checks it like any other event time. */
  readonly timestampsMs: readonly number[];
  /** As many as times; finite. */
  readonly values: readonly number[];
  /** As many; left out where no point has any. */
  readonly extras?: readonly (PointExtras | undefined)[];
  /** Omitted where the record names no group. */
  readonly group?: string | null;
}

export interface DecodedPoints {
  readonly series: readonly SeriesPoints[];
  /** Points without a value: staleness markers, NaN. */
  readonly missing: number;
  /** Points, lines and series that cannot be used; the others can. */
  readonly refused: number;
  /** Why, of the first of them. */
  readonly reasons: readonly string[];
  readonly histograms?: NativeHistograms;
}

/** Native histograms that were read, and the points that they became. */
export interface NativeHistograms {
  readonly count: number;
  readonly points: number;
}

/** A record of which nothing can be used. */
export interface UnreadablePoints {
  readonly kind: 'unreadable';
  readonly detail: string;
}

export type PointsOfRecord = ({ readonly kind: 'points' } & DecodedPoints) | UnreadablePoints;

/** Points of one record or body and their series, with those that are missing or refused. More are unreadable. */
export const RECORD_POINTS_MAX = 200_000;
/** Reasons that are kept of what is refused. */
const REASONS_MAX = 20;

type OpenSeries = SeriesPoints & {
  readonly timestampsMs: number[];
  readonly values: number[];
  extras?: (PointExtras | undefined)[];
};

/** Gathers the points of a record by series. Throws a RangeError beyond RECORD_POINTS_MAX. */
export class PointsBySeries {
  readonly #series = new Map<string, OpenSeries>();
  readonly #refusals = new RefusedPoints();
  #newest: OpenSeries | null = null;
  #missing = 0;
  #histograms: NativeHistograms | null = null;
  #count = 0;

  /** A value that is no finite number is a missing one. */
  add(series: SeriesName, timestampMs: number, value: number, extras?: PointExtras): void {
    this.#counted();
    if (series.unusable !== null) this.#refusals.add(`${series.id}: ${series.unusable}`);
    else if (!Number.isFinite(value)) this.#missing++;
    else {
      const open = this.#newest?.id === series.id ? this.#newest : this.#open(series);
      open.timestampsMs.push(timestampMs);
      open.values.push(value);
      if (extras === undefined && open.extras === undefined) return;
      open.extras ??= open.values.slice(1).map(() => undefined);
      open.extras.push(extras);
    }
  }

  refuse(reason: string, points = 1): void {
    this.#counted();
    this.#refusals.add(reason, points);
  }

  noteHistogram(became: number): void {
    const { count, points } = this.#histograms ?? { count: 0, points: 0 };
    this.#histograms = { count: count + 1, points: points + became };
  }

  /** Counts an element that may have no points as one, so that reading is bounded. */
  pass(): void {
    this.#counted();
  }

  decoded(): PointsOfRecord {
    const histograms = this.#histograms === null ? {} : { histograms: this.#histograms };
    const series = [...this.#series.values()];
    return { kind: 'points', series, missing: this.#missing, ...histograms, ...this.#refusals.all };
  }

  #open({ id, name, labels }: SeriesName): OpenSeries {
    let open = this.#series.get(id);
    if (open === undefined) {
      open = { id, name, labels, timestampsMs: [], values: [] };
      this.#series.set(id, open);
    }
    this.#newest = open;
    return open;
  }

  #counted(): void {
    if (++this.#count > RECORD_POINTS_MAX)
      throw new RangeError(`there are more than ${RECORD_POINTS_MAX} points and series: send fewer at once`);
  }
}

/** All are counted, the first reasons are kept. */
export class RefusedPoints {
  #refused = 0;
  readonly #reasons: string[] = [];

  get all(): { readonly refused: number; readonly reasons: readonly string[] } {
    return { refused: this.#refused, reasons: this.#reasons };
  }

  add(reason: string, points = 1): void {
    this.#refused += points;
    if (this.#reasons.length < REASONS_MAX && !this.#reasons.includes(reason)) this.#reasons.push(reason);
  }

  /** Those of another, counted again. */
  addAll({ refused, reasons }: { readonly refused: number; readonly reasons: readonly string[] }): void {
    this.#refused += refused;
    this.#reasons.push(...reasons.slice(0, REASONS_MAX - this.#reasons.length));
  }
}
