import type { ExplainedSeries } from './explained-series.ts';
import { grangerRelevance } from './granger.ts';
import { transferEntropy } from './transfer-entropy.ts';

export const RELEVANCE_METHODS = ['granger', 'transfer_entropy'] as const;
export type RelevanceMethod = (typeof RELEVANCE_METHODS)[number];

interface RelevanceSettings {
  readonly method: RelevanceMethod;
  /** Yields to the event loop. */
  readonly pause: () => Promise<unknown>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * How relevant the past of each variable is to the next value: one weight for each, not negative, with sum 1, over all
 * series together. Weights are equal where no variable is relevant. They are no causes.
 */
export async function relevanceWeights(
  histories: readonly ExplainedSeries[],
  { method, pause, signal }: RelevanceSettings,
): Promise<Float64Array> {
  const count = histories[0]?.variables.length ?? 0;
  const relevance = new Float64Array(count);
  for (let variable = 0; variable < count; variable++) {
    await pause();
    signal?.throwIfAborted();
    const relevanceOf = method === 'granger' ? grangerRelevance : transferEntropy;
    relevance[variable] = await relevanceOf(histories, variable, pause);
  }
  const total = relevance.reduce((sum, own) => sum + own, 0);
  return relevance.map((own) => (total > 0 ? own / total : 1 / count));
}
