import { namedSeries } from '../../codecs/points/series-names.ts';
import { type DecodedPoints, PointsBySeries } from '../../codecs/points/series-points.ts';
import { NAME_LABEL, sortedLabels } from '../../records/series/series-id.ts';

/** The answer of Prometheus to `query_range`. */
export type RangeAnswer =
  | {
      readonly kind: 'answered';
      readonly points: DecodedPoints;
      /** The reason why something may be missing, from the answer; null if nothing is. */
      readonly partial: string | null;
      /** Remarks about the query, of which nothing is missing. */
      readonly annotations: readonly string[];
    }
  /** With fewer steps it may be answered. */
  | { readonly kind: 'too-large'; readonly detail: string }
  | { readonly kind: 'failed'; readonly detail: string };

/** Steps of a request, and the name of series whose result has none. */
export interface RangeRequest {
  readonly query: string;
  /** The first and the last step, both included; milliseconds since the epoch. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
  readonly name: string;
}

/** Beyond it Prometheus refuses. */
const TOO_LARGE =
  /exceeded maximum resolution|too many samples|too many points|max(?:imum)? .*(?:samples|series|chunks)/i;
const DETAIL_CHARACTERS_MAX = 300;
/** Warnings of PromQL about the query. Others, such as those of Thanos and Mimir, are about data that is missing. */
const isAnnotation = (warning: string) => /^PromQL (?:info|warning)\b/.test(warning);

/** Reads the body of an answer. Whatever it is, nothing is thrown. */
export function readRangeAnswer(status: number, body: string, request: RangeRequest): RangeAnswer {
  let read: unknown;
  try {
    read = JSON.parse(body);
  } catch {
    return { kind: 'failed', detail: `it answers ${status}, and no JSON: ${shortened(body)}` };
  }
  const answer = fieldsOf(read);
  if (answer.status !== 'success') {
    const { errorType, error } = answer;
    const reason = `${text(errorType) ?? 'no status'} ${text(error) ?? ''}`;
    const detail = `it answers ${status}: ${shortened(reason.trim())}`;
    const isTooLarge = errorType === 'timeout' || TOO_LARGE.test(text(error) ?? '');
    return { kind: isTooLarge ? 'too-large' : 'failed', detail };
  }
  const { resultType, result } = fieldsOf(answer.data);
  if (resultType !== 'matrix' || !Array.isArray(result)) {
    return { kind: 'failed', detail: `its result is of type ${text(resultType) ?? 'none'}, not matrix` };
  }
  const points = new PointsBySeries();
  try {
    for (const series of result) readSeries(fieldsOf(series), request, points);
  } catch (error) {
    return { kind: 'too-large', detail: `in its answer ${(error as RangeError).message}` };
  }
  const decoded = points.decoded();
  if (decoded.kind === 'unreadable') return { kind: 'failed', detail: decoded.detail };
  const warnings = textsOf(answer.warnings);
  // VictoriaMetrics gives no reason.
  const missing = [
    ...(answer.isPartial === true ? ['isPartial'] : []),
    ...warnings.filter((each) => !isAnnotation(each)),
  ];
  const annotations = [...warnings, ...textsOf(answer.infos)].filter(isAnnotation).map(shortened);
  const partial = missing.length === 0 ? null : shortened(missing.join('; '));
  return { kind: 'answered', points: decoded, partial, annotations };
}

function readSeries({ metric, values, histograms }: JsonFields, request: RangeRequest, points: PointsBySeries): void {
  const { [NAME_LABEL]: given, ...labels } = fieldsOf(metric);
  const pairs = Object.entries(labels).map(([label, value]) => [label, String(value)] as const);
  const [name, sorted] = [text(given) || request.name, sortedLabels(pairs)];
  const series = namedSeries(name, sorted);
  for (const [timestampMs, value] of stepsOf(values, request)) points.add(series, timestampMs, numberOf(value));
  const [counts, sums] = ['_count', '_sum'].map((suffix) => namedSeries(name + suffix, sorted));
  for (const [timestampMs, histogram] of stepsOf(histograms, request)) {
    const { count, sum } = fieldsOf(histogram);
    points.add(counts, timestampMs, numberOf(count));
    points.add(sums, timestampMs, numberOf(sum));
  }
}

const numberOf = (value: unknown) => (typeof value === 'string' ? Number(value) : Number.NaN);

/** Only steps of the request: others belong to another one. */
function stepsOf(list: unknown, { fromMs, toMs }: RangeRequest): (readonly [timestampMs: number, value: unknown])[] {
  const pairs = (Array.isArray(list) ? list : []).map((pair: unknown) => {
    const [seconds, value] = Array.isArray(pair) ? pair : [];
    return [Math.round(Number(seconds) * 1_000), value] as const;
  });
  return pairs.filter(([timestampMs]) => timestampMs >= fromMs && timestampMs <= toMs);
}

type JsonFields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): JsonFields {
  return typeof value === 'object' && value !== null ? (value as JsonFields) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function textsOf(list: unknown): readonly string[] {
  return Array.isArray(list) ? list.map(String) : [];
}

function shortened(detail: string): string {
  return detail.length > DETAIL_CHARACTERS_MAX ? `${detail.slice(0, DETAIL_CHARACTERS_MAX)}...` : detail;
}
