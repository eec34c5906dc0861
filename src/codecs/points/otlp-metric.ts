import type { PointExtras } from '../../records/point-extras.ts';
import {
  type Attributes,
  mergedLabels,
  type ResourceLabels,
  scopeLabels,
} from '../../records/series/resource-labels.ts';
import { sortedLabels } from '../../records/series/series-id.ts';
import { EVENT_TIME_MS_MIN } from '../observations/event-time.ts';
import { type ExponentialBuckets, explicitQuantile, exponentialQuantile } from './histogram-quantile.ts';
import type { NamesOfScope, SeriesNames } from './series-names.ts';
import type { PointsBySeries } from './series-points.ts';

/** A point or a resource has at most so many that are read: far more than a series may have labels. */
export const ATTRIBUTES_MAX = 1_000;
/** Quantiles of a histogram that covers one interval. */
export const QUANTILES = [0.5, 0.95, 0.99];
/** Data points flag: there is no value. */
const NO_RECORDED_VALUE = 1;
const NANOS_PER_MS = 1_000_000;
/** Aggregation temporality. */
export const DELTA = 1;

/** The receiver of what is read. */
export interface OtlpReading {
  readonly points: PointsBySeries;
  readonly names: SeriesNames;
  readonly resourceLabels: ResourceLabels;
}

/** Labels of what sends a metric: those of its scope count more than those of the resource. */
export function sourceLabels(resource: Attributes, scope: { readonly name: string; readonly attributes: Attributes }) {
  return mergedLabels(resource, scopeLabels(scope.name, scope.attributes));
}

export interface OtlpPoint {
  /** Different where the attributes are. */
  readonly attributesKey: string;
  readonly attributes: () => Attributes;
  /** 0 where it is not known. */
  readonly startUnixNano: number;
  readonly timeUnixNano: number;
  readonly flags: number;
}

/** A value, and what it leaves out of a 64-bit integer. */
export interface OtlpNumber {
  readonly value: number;
  readonly low: number;
}

interface OtlpHistogram {
  readonly count: OtlpNumber;
  /** NaN if there is none. */
  readonly sum: number;
  readonly explicit: { readonly bounds: readonly number[]; readonly counts: readonly number[] } | null;
  readonly exponential: ExponentialBuckets | null;
}

interface PartOfPoint {
  readonly suffix?: string;
  readonly quantile?: number;
  readonly counter?: PointExtras | undefined;
}

/** A start that is not before its point is ignored: it is that of a value whose start is not known. */
function extrasOf({ startUnixNano, timeUnixNano }: OtlpPoint, isDelta: boolean, low = 0): PointExtras | undefined {
  const startMs = Math.round(startUnixNano / NANOS_PER_MS);
  const isKnown = startMs >= EVENT_TIME_MS_MIN && startUnixNano < timeUnixNano;
  if (!isKnown && !isDelta && low === 0) return undefined;
  return { ...(isKnown && { startMs }), ...(isDelta && { isDelta }), ...(low !== 0 && { low }) };
}

/** The points of one metric of one resource and scope. */
export class OtlpMetric {
  readonly #reading: OtlpReading;
  readonly #metric: { readonly encoding: string; readonly name: string; readonly source: Attributes };
  readonly #scopes = new Map<string, NamesOfScope>();

  constructor(reading: OtlpReading, metric: { encoding: string; name: string; source: Attributes }) {
    this.#reading = reading;
    this.#metric = metric;
  }

  /** Some senders write counters as gauges. */
  gauge(point: OtlpPoint, { value, low }: OtlpNumber): void {
    this.#add(point, value, { counter: low === 0 ? undefined : { low } });
  }

  /** @param ofInterval it covers one interval, not all since a start */
  sum(point: OtlpPoint, { value, low }: OtlpNumber, ofInterval: boolean): void {
    this.#add(point, value, { counter: extrasOf(point, ofInterval, low) });
  }

  /** @param ofInterval as of a sum */
  histogram(point: OtlpPoint, { count, sum, explicit, exponential }: OtlpHistogram, ofInterval: boolean): void {
    this.#add(point, count.value, { suffix: '_count', counter: extrasOf(point, ofInterval, count.low) });
    if (!Number.isNaN(sum)) this.#add(point, sum, { suffix: '_sum', counter: extrasOf(point, ofInterval) });
    if (!ofInterval) return;
    for (const quantile of QUANTILES) {
      if (explicit !== null && explicit.bounds.length > 0 && explicit.counts.length === explicit.bounds.length + 1) {
        this.#add(point, explicitQuantile(quantile, explicit), { quantile });
      }
      if (exponential !== null) this.#add(point, exponentialQuantile(quantile, exponential), { quantile });
    }
  }

  summary(point: OtlpPoint, count: OtlpNumber, sum: number): void {
    this.#add(point, count.value, { suffix: '_count', counter: extrasOf(point, false, count.low) });
    this.#add(point, sum, { suffix: '_sum', counter: extrasOf(point, false) });
  }

  summaryQuantile(point: OtlpPoint, quantile: number, value: number): void {
    this.#add(point, value, { quantile });
  }

  #add(point: OtlpPoint, value: number, { suffix = '', quantile, counter }: PartOfPoint = {}): void {
    const { names, points } = this.#reading;
    const part = quantile === undefined ? suffix : `=${quantile}`;
    let scope = this.#scopes.get(part);
    if (scope === undefined) {
      const { encoding, name, source } = this.#metric;
      scope = names.scope(JSON.stringify([encoding, name, part, source]));
      this.#scopes.set(part, scope);
    }
    const series = names.find(scope, point.attributesKey, () => {
      const { name, source } = this.#metric;
      const quantiles: Attributes = quantile === undefined ? [] : [['quantile', String(quantile)]];
      // An attribute of the point counts more than one of the scope or the resource.
      const labels = sortedLabels(mergedLabels(source, [...point.attributes(), ...quantiles]));
      return { name: name === '' ? '' : name + suffix, labels };
    });
    const timestampMs = Math.round(point.timeUnixNano / NANOS_PER_MS);
    points.add(series, timestampMs, (point.flags & NO_RECORDED_VALUE) === 0 ? value : Number.NaN, counter);
  }
}
