import { setImmediate as pause } from 'node:timers/promises';
import type { Static } from 'typebox';
import { type RelevanceMethod, relevanceWeights } from '../../../forecasting/relevance/relevance-weights.ts';
import { type TokenCount, tokensOf } from '../../accounts/token-count.ts';
import { BodyProblems } from '../../wire/problem.ts';
import type { ExplainAnswer, ExplainBody } from '../../wire/schema/tasks/explain-schema.ts';
import { checkFeatures } from '../series/request-limits.ts';
import { explainedSeries, RequestSeries } from '../series/request-series.ts';
import { checkSeries } from '../series/series-checks.ts';

interface ExplainQuestion {
  readonly series: RequestSeries;
  readonly method: RelevanceMethod;
  readonly tokens: TokenCount;
}

/** Throws an HttpProblem for an invalid request. */
export function readExplain(body: ExplainBody): ExplainQuestion {
  const problems = new BodyProblems();
  checkSeries(problems, body.series);
  checkFeatures(problems, body.series.X);
  problems.throwIfAny();
  const { series, method = 'granger' } = body;
  const tokens = tokensOf(body, { predicted: series.X.length, outputs: 1 });
  return { series: new RequestSeries(series), method, tokens };
}

/** The relevance of each feature, over all series. */
export async function explain({ series, method }: ExplainQuestion, signal: AbortSignal) {
  const weights = await relevanceWeights(explainedSeries(series), { method, pause, signal });
  return { weights, method, feature_names: null } satisfies Static<typeof ExplainAnswer>;
}
