import type { RelevanceMethod } from '../../../forecasting/relevance/relevance-weights.ts';
import { type TokenCount, tokensOf } from '../../accounts/token-count.ts';
import { invalidRequest } from '../../wire/problem.ts';
import type { ExplainBody } from '../../wire/schema/explain-schema.ts';
import { featureProblems } from '../series/request-limits.ts';
import { RequestSeries } from '../series/request-series.ts';
import { seriesProblems } from '../series/series-problems.ts';

/** A checked request for the relevance of features. */
export interface ExplainQuestion {
  readonly series: RequestSeries;
  readonly method: RelevanceMethod;
  /** The price of the answer. */
  readonly tokens: TokenCount;
}

/** Throws an HttpProblem for an invalid request. */
export function readExplain(body: ExplainBody): ExplainQuestion {
  const problems = [...seriesProblems(body), ...featureProblems(body.series.X)];
  if (problems.length > 0) throw invalidRequest(problems);
  const { series, method = 'granger' } = body;
  const tokens = tokensOf(body, { predicted: series.X.length, outputs: 1 });
  return { series: new RequestSeries(series), method, tokens };
}
