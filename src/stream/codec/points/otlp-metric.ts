import { type SeriesLabels, sortedLabels } from '../../../series/series-id.ts';
import { type ExponentialBuckets, explicitQuantile, exponentialQuantile } from './histogram-quantile.ts';
import { type NamesOfScope, namedSeries, type SeriesNames } from './series-names.ts';
import type { PointsBySeries } from './series-points.ts';

/** Attributes of the resource that become labels, as Prometheus names them; the others do not distinguish series. */
const RESOURCE_LABELS: ReadonlyMap<string, string> = new Map([
  ['service.name', 'job'],
  ['service.instance.id', 'instance'],
  ['host.name', 'host'],
]);
/** A point or a resource has at most so many that are read: far more than a series may have labels. */
export const ATTRIBUTES_MAX = 1_000;
/** What a histogram that covers one interval becomes. */
const QUANTILES = [0.5, 0.95, 0.99];
/** Data points flag: there is no value. */
const NO_RECORDED_VALUE = 1;
const NANOS_PER_MS = 1_000_000;
/** Aggregation temporality. */
export const DELTA = 1;

export type Attributes = readonly (readonly [key: string, value: string])[];

/** Where what is read goes. */
export interface OtlpReading {
  readonly points: PointsBySeries;
  readonly names: SeriesNames;
}

/** A point, by its encoding. */
export interface OtlpPoint {
  /** Different where the attributes are. */
  readonly attributesKey: string;
  readonly attributes: () => Attributes;
  readonly timeUnixNano: number;
  readonly flags: number;
}

interface OtlpHistogram {
  readonly count: number;
  /** NaN where there is none. */
  readonly sum: number;
  readonly explicit: { readonly bounds: readonly number[]; readonly counts: readonly number[] } | null;
  readonly exponential: ExponentialBuckets | null;
}

/** The points of one metric of one resource. */
export class OtlpMetric {
  readonly #reading: OtlpReading;
  readonly #encoding: string;
  readonly #name: string;
  readonly #resource: Attributes;
  readonly #scopes = new Map<string, NamesOfScope>();

  constructor(reading: OtlpReading, metric: { encoding: string; name: string; resource: Attributes }) {
    this.#reading = reading;
    this.#encoding = metric.encoding;
    this.#name = metric.name;
    this.#resource = metric.resource;
  }

  number(point: OtlpPoint, value: number): void {
    this.#add(point, value);
  }

  /** @param ofInterval it covers one interval, not all since a start */
  histogram(point: OtlpPoint, { count, sum, explicit, exponential }: OtlpHistogram, ofInterval: boolean): void {
    this.#add(point, count, { suffix: '_count' });
    if (!Number.isNaN(sum)) this.#add(point, sum, { suffix: '_sum' });
    if (!ofInterval) return;
    for (const quantile of QUANTILES) {
      if (explicit !== null && explicit.bounds.length > 0 && explicit.counts.length === explicit.bounds.length + 1) {
        this.#add(point, explicitQuantile(quantile, explicit), { quantile });
      }
      if (exponential !== null) this.#add(point, exponentialQuantile(quantile, exponential), { quantile });
    }
  }

  summary(point: OtlpPoint, count: number, sum: number): void {
    this.#add(point, count, { suffix: '_count' });
    this.#add(point, sum, { suffix: '_sum' });
  }

  summaryQuantile(point: OtlpPoint, quantile: number, value: number): void {
    this.#add(point, value, { quantile });
  }

  #add(point: OtlpPoint, value: number, { suffix = '', quantile }: { suffix?: string; quantile?: number } = {}): void {
    const { names, points } = this.#reading;
    const part = quantile === undefined ? suffix : `=${quantile}`;
    let scope = this.#scopes.get(part);
    if (scope === undefined) {
      scope = names.scope(JSON.stringify([this.#encoding, this.#name, part, this.#resource]));
      this.#scopes.set(part, scope);
    }
    const series = names.find(scope, point.attributesKey, () =>
      namedSeries(this.#name === '' ? '' : this.#name + suffix, this.#labels(point.attributes(), quantile)),
    );
    const timestampMs = Math.round(point.timeUnixNano / NANOS_PER_MS);
    points.add(series, timestampMs, (point.flags & NO_RECORDED_VALUE) === 0 ? value : Number.NaN);
  }

  /** An attribute of the point counts more than one of the resource. */
  #labels(attributes: Attributes, quantile: number | undefined): SeriesLabels {
    const own: Attributes = quantile === undefined ? attributes : [...attributes, ['quantile', String(quantile)]];
    const named = new Set(own.map(([label]) => label));
    return sortedLabels([...this.#resource.filter(([label]) => !named.has(label)), ...own]);
  }
}

/** Labels of the attributes of a resource. */
export function resourceLabels(attributes: Attributes): Attributes {
  const labels: (readonly [string, string])[] = [];
  for (const [key, value] of attributes) {
    const label = RESOURCE_LABELS.get(key);
    if (label !== undefined && labels.every(([taken]) => taken !== label)) labels.push([label, value]);
  }
  return labels;
}
