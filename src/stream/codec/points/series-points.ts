/** What records of metric pipelines hold: points of many series, each with a name and labels. */

/** Name and value of each label, sorted by name, without the name of the metric. */
export type SeriesLabels = readonly (readonly [name: string, value: string])[];

/** Points of one series, in the order of the record. */
export interface SeriesPoints {
  /** The canonical id: `name{label="value",...}`, or the name alone. */
  readonly id: string;
  readonly name: string;
  readonly labels: SeriesLabels;
  /** Milliseconds since the epoch. Not checked: whoever takes a point checks it as any other event time. */
  readonly timestampsMs: readonly number[];
  /** As many as times; finite. */
  readonly values: readonly number[];
}

export interface DecodedPoints {
  readonly series: readonly SeriesPoints[];
  /** Points that stand for no value: staleness markers, NaN. */
  readonly missing: number;
  /** Series that cannot be used, each with the reason; the others can. */
  readonly refused: readonly RefusedSeries[];
}

export interface RefusedSeries {
  /** null where it is not known. */
  readonly id: string | null;
  readonly detail: string;
}

/** A record of which nothing can be used. */
export interface UnreadablePoints {
  readonly kind: 'unreadable';
  readonly detail: string;
}

export type PointsOfRecord = ({ readonly kind: 'points' } & DecodedPoints) | UnreadablePoints;

/** Labels of a series, the name of the metric not counted. */
export const SERIES_LABELS_MAX = 64;

const BY_NAME = ([a]: readonly [string, string], [b]: readonly [string, string]) => (a < b ? -1 : a > b ? 1 : 0);

/** Labels in their canonical order. An empty value is the same as no label, as in Prometheus. */
export function sortedLabels(labels: Iterable<readonly [string, string]>): SeriesLabels {
  return [...labels].filter(([, value]) => value !== '').sort(BY_NAME);
}

/** `up{instance="a:9100",job="node"}`: what PromQL shows. Two series are one where their ids are equal. */
export function canonicalId(name: string, labels: SeriesLabels): string {
  if (labels.length === 0) return name;
  return `${name}{${labels.map(([label, value]) => `${label}="${escaped(value)}"`).join(',')}}`;
}

function escaped(value: string): string {
  return /["\\\n]/.test(value) ? value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n') : value;
}

/** Gathers the points of a record by series. */
export class PointsBySeries {
  readonly #series = new Map<string, SeriesPoints & { timestampsMs: number[]; values: number[] }>();
  readonly #refused: RefusedSeries[] = [];
  #missing = 0;

  /** The series of a name and labels, or null where they cannot be used; the reason is kept. */
  open(name: string, labels: SeriesLabels): SeriesPoints | null {
    const id = canonicalId(name, labels);
    const found = this.#series.get(id);
    if (found !== undefined) return found;
    const detail = whyUnusable(name, labels);
    if (detail !== null) {
      this.#refused.push({ id: id.slice(0, 200), detail });
      return null;
    }
    const opened = { id, name, labels, timestampsMs: [], values: [] };
    this.#series.set(id, opened);
    return opened;
  }

  /** A value that is no finite number is a missing one. */
  add({ id }: SeriesPoints, timestampMs: number, value: number): void {
    const series = this.#series.get(id);
    if (series === undefined || !Number.isFinite(value)) {
      this.#missing++;
      return;
    }
    series.timestampsMs.push(timestampMs);
    series.values.push(value);
  }

  refuse(id: string | null, detail: string): void {
    this.#refused.push({ id, detail });
  }

  decoded(): PointsOfRecord {
    const series = [...this.#series.values()].filter(({ values }) => values.length > 0);
    return { kind: 'points', series, missing: this.#missing, refused: this.#refused };
  }
}

function whyUnusable(name: string, labels: SeriesLabels): string | null {
  if (name === '') return 'the metric has no name';
  if (labels.length > SERIES_LABELS_MAX) {
    return `the series has ${labels.length} labels, more than ${SERIES_LABELS_MAX}`;
  }
  const twice = labels.find(([label], i) => i > 0 && labels[i - 1]?.[0] === label);
  return twice === undefined ? null : `the series has the label ${twice[0]} twice`;
}
