import { setImmediate as pause } from 'node:timers/promises';
import { relevanceWeights } from '../../../forecasting/relevance/relevance-weights.ts';
import { explainedSeries } from '../series/request-series.ts';
import type { ExplainQuestion } from './explain-question.ts';

/** The relevance of each feature, over all series. */
export function runExplain({ series, method }: ExplainQuestion, signal: AbortSignal): Promise<Float64Array> {
  return relevanceWeights(explainedSeries(series), { method, pause, signal });
}
