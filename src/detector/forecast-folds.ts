import { contextBucket } from './cross-validation.ts';
import type { ForecastBatch, ForecastLimits } from './forecast.ts';

/** Forecasts to be made at many cutoffs, of one series or of many. */
export interface FoldPlan<F> {
  readonly folds: readonly F[];
  readonly horizon: number;
  /** How many positions before its cutoff a fold sees; not more than the longest bucket. */
  seenBy(fold: F): number;
  /** Writes them, oldest first, NaN where missing, into a target of that length. */
  fill(fold: F, target: Float32Array): void;
  /** `rows * horizon` numbers, or as many times more for each step. */
  forecast(batch: ForecastBatch): Promise<Float32Array>;
  /** The common time of the cutoffs of a group; absent where every fold is forecast by itself. */
  readonly timeOf?: ((fold: F) => number) | undefined;
  /** Takes a fold's forecast; null where nothing was observed before its cutoff. */
  take(fold: F, forecast: Float32Array | null): void;
}

/** Rows handed to the model at a time; bounds the memory of a large request. */
const BATCH_ROWS_MAX = 512;
/** As many rows again, where groups are as large as models take them. */
const GROUPS_AT_ONCE = 4;

/** Makes the forecasts of a plan: in batches of equal context length, each fold for itself, or group by group. */
export async function forecastFolds<F>(
  plan: FoldPlan<F>,
  { contextBuckets }: Pick<ForecastLimits, 'contextBuckets'>,
): Promise<void> {
  const { timeOf } = plan;
  const lengthOf = (fold: F) => contextBucket(plan.seenBy(fold), contextBuckets);
  if (timeOf !== undefined) {
    const groups = [...Map.groupBy(plan.folds, timeOf).values()];
    for (let start = 0; start < groups.length; start += GROUPS_AT_ONCE) {
      const some = groups.slice(start, start + GROUPS_AT_ONCE);
      await Promise.all(some.map((folds) => forecastBatch(plan, folds, Math.max(...folds.map(lengthOf)), true)));
    }
    return;
  }
  for (const [length, folds] of Map.groupBy(plan.folds, lengthOf)) {
    for (let start = 0; start < folds.length; start += BATCH_ROWS_MAX) {
      await forecastBatch(plan, folds.slice(start, start + BATCH_ROWS_MAX), length);
    }
  }
}

async function forecastBatch<F>(
  plan: FoldPlan<F>,
  folds: readonly F[],
  contextLength: number,
  together = false,
): Promise<void> {
  const rows = folds.length;
  const values = new Float32Array(rows * contextLength).fill(Number.NaN);
  folds.forEach((fold, row) => {
    const end = (row + 1) * contextLength;
    plan.fill(fold, values.subarray(end - plan.seenBy(fold), end));
  });
  const forecasts = await plan.forecast({
    rows,
    contextLength,
    values,
    horizon: plan.horizon,
    ...(together && { together }),
  });
  const width = forecasts.length / rows;
  folds.forEach((fold, row) => {
    const blind = values.subarray(row * contextLength, (row + 1) * contextLength).every(Number.isNaN);
    plan.take(fold, blind ? null : forecasts.subarray(row * width, (row + 1) * width));
  });
}
