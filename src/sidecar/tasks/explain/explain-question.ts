import type { RelevanceMethod } from '../../../forecast/relevance/relevance-weights.ts';
import { type TokenCount, tokensOf } from '../../accounts/token-count.ts';
import { type FieldProblem, fieldProblem, invalidRequest } from '../../wire/problem.ts';
import type { ExplainBody } from '../../wire/schema/explain-schema.ts';
import { RequestSeries } from '../series/request-series.ts';
import { seriesProblems } from '../series/series-problems.ts';

/** A checked request for the relevance of features. */
export interface ExplainQuestion {
  readonly series: RequestSeries;
  readonly method: RelevanceMethod;
  /** The price of the answer. */
  readonly tokens: TokenCount;
}

/** Features of one request. */
const FEATURES_MAX = 75;
/** Values of all features of one request. */
const FEATURE_VALUES_MAX = 1_000_000;

/** Throws an HttpProblem for an invalid request. */
export function readExplain(body: ExplainBody): ExplainQuestion {
  const problems = [...seriesProblems(body), ...featureProblems(body)];
  if (problems.length > 0) throw invalidRequest(problems);
  const { series, method = 'granger' } = body;
  const tokens = tokensOf(body, { predicted: series.X.length, outputs: 1 });
  return { series: new RequestSeries(series), method, tokens };
}

function featureProblems({ series: { X } }: ExplainBody): FieldProblem[] {
  const loc = ['body', 'series', 'X'];
  const problems: FieldProblem[] = [];
  if (X.length > FEATURES_MAX) {
    problems.push(fieldProblem(loc, `X has ${X.length} features; at most ${FEATURES_MAX} can be explained at once`));
  }
  const values = X.reduce((sum, { length }) => sum + length, 0);
  if (values > FEATURE_VALUES_MAX) {
    const text = `the features have ${values} values together; at most ${FEATURE_VALUES_MAX} can be explained at once`;
    problems.push(fieldProblem(loc, text));
  }
  return problems;
}
