import { setImmediate as pause } from 'node:timers/promises';
import { relevanceWeights } from '../../../forecast/relevance/relevance-weights.ts';
import type { ExplainQuestion } from './explain-question.ts';

/** The relevance of each feature, over all series. */
export async function runExplain({ series, method }: ExplainQuestion, signal: AbortSignal): Promise<Float64Array> {
  const { values, variables } = series;
  const histories = values.map((history, i) => ({ values: history, variables: variables?.[i] ?? [] }));
  return relevanceWeights(histories, { method, pause, signal });
}
