import { canonicalId, seriesOfId } from '../../records/series/series-id.ts';
import { rateOf, SeriesColumns } from './series-columns.ts';
import { isCounter } from './series-profile.ts';

interface PrometheusData {
  readonly url: string;
  /** Matchers of the series, in braces. */
  readonly match: string;
  /** As a duration of Prometheus, and of a detectors file. */
  readonly step: string;
  /** Window of the rate of counters. */
  readonly window: string;
}

/** Counters that are requested, each by a query of its own; further ones are named. */
const COUNTERS_MAX = 40;
const BUCKET = /_bucket$/;
const NAME_LENGTH_MAX = 58;

/** Queries for `poll`: the rate of each counter, the other series as they are; no buckets of histograms. */
export function queriesFor(all: SeriesColumns, { url, match, step, window }: PrometheusData) {
  const votes = new Map<string, { counters: number; series: number }>();
  for (const column of all.all()) {
    const { name } = seriesOfId(column.id);
    const vote = votes.get(name) ?? { counters: 0, series: 0 };
    votes.set(name, { counters: vote.counters + (isCounter(column) ? 1 : 0), series: vote.series + 1 });
  }
  const names = [...votes.keys()].sort();
  const counters = names.filter((name) => 2 * votes.get(name)!.counters > votes.get(name)!.series || BUCKET.test(name));
  const asked = counters.filter((name) => !BUCKET.test(name)).slice(0, COUNTERS_MAX);
  const columns = new SeriesColumns(Number.POSITIVE_INFINITY);
  for (const column of all.all()) {
    const { name, labels } = seriesOfId(column.id);
    const isRate = asked.includes(name);
    if (!isRate && counters.includes(name)) continue;
    const id = isRate ? canonicalId(rateName(name), labels) : column.id;
    const { times, values } = isRate ? rateOf(column) : column;
    for (let i = 0; i < times.length; i++) columns.add(id, times[i], values[i]);
  }
  const within = (matcher: string) => `${match.trim().slice(0, -1).trimEnd().replace(/,$/, '')}, ${matcher}}`;
  const without = counters.length === 0 ? match : within(`__name__!~"${counters.map(escaped).join('|')}"`);
  const gauges = counters.length === names.length ? [] : [{ name: 'gauges', url, query: without, step }];
  const rates = asked.map((name) => {
    return { name: rateName(name), url, query: `rate(${within(`__name__="${escaped(name)}"`)}[${window}])`, step };
  });
  return { sources: [...gauges, ...rates], columns, left: counters.filter((name) => !asked.includes(name)) };
}

/** The name of the source is that of its series. */
function rateName(name: string): string {
  return `${name.replaceAll(/[^a-zA-Z0-9._-]/g, '_').slice(0, NAME_LENGTH_MAX)}.rate`;
}

/** Names that UTF-8 allows, in the text of a regular expression or a string. */
function escaped(name: string): string {
  return name.replaceAll(/[\\"]/g, (letter) => `\\${letter}`);
}
