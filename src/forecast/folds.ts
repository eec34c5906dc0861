import { contextBucket } from './context-length.ts';
import type { ForecastBatch, ForecastLimits } from './forecaster.ts';

/** Forecasts to be made at many cutoffs, of one series or of many. */
export interface FoldPlan<F> {
  readonly folds: readonly F[];
  readonly horizon: number;
  /** How many positions before its cutoff a fold sees; not more than the longest bucket. */
  contextLengthOf(fold: F): number;
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
/** Rows under way at a time: while some are forecast, the next are filled in and the last are taken, and a small request has all threads. */
const ROWS_UNDER_WAY_MAX = 2 * BATCH_ROWS_MAX;

interface Batch<F> {
  readonly folds: readonly F[];
  readonly contextLength: number;
  /** The folds are a group. */
  readonly together: boolean;
}

interface MadeBatch<F> extends Batch<F> {
  readonly values: Float32Array;
  readonly forecasts: Float32Array;
}

/** Makes the forecasts of a plan: in batches of equal context length, each fold for itself, or group by group. */
export async function forecastFolds<F>(
  plan: FoldPlan<F>,
  { contextBuckets }: Pick<ForecastLimits, 'contextBuckets'>,
): Promise<void> {
  const underWay: { readonly rows: number; readonly made: Promise<MadeBatch<F>> }[] = [];
  let rows = 0;
  // In the order in which they were asked for: sums of floating-point numbers depend on it.
  const takeFirst = async () => {
    const first = underWay.shift()!;
    takeBatch(plan, await first.made);
    rows -= first.rows;
  };
  for (const batch of batchesOf(plan, contextBuckets)) {
    while (rows + batch.folds.length > ROWS_UNDER_WAY_MAX) await takeFirst();
    const made = makeBatch(plan, batch);
    // One that fails while another is waited for is told of when its turn comes, or not at all, when that one fails, too.
    made.catch(() => {});
    underWay.push({ rows: batch.folds.length, made });
    rows += batch.folds.length;
  }
  while (underWay.length > 0) await takeFirst();
}

function batchesOf<F>({ folds, contextLengthOf, timeOf }: FoldPlan<F>, contextBuckets: readonly number[]): Batch<F>[] {
  const lengthOf = (fold: F) => contextBucket(contextLengthOf(fold), contextBuckets);
  if (timeOf !== undefined) {
    const groups = [...Map.groupBy(folds, timeOf).values()];
    return groups.map((members) => {
      return { folds: members, contextLength: Math.max(...members.map(lengthOf)), together: true };
    });
  }
  return [...Map.groupBy(folds, lengthOf)].flatMap(([contextLength, alike]) =>
    Array.from({ length: Math.ceil(alike.length / BATCH_ROWS_MAX) }, (_, i) => {
      return { folds: alike.slice(i * BATCH_ROWS_MAX, (i + 1) * BATCH_ROWS_MAX), contextLength, together: false };
    }),
  );
}

async function makeBatch<F>(plan: FoldPlan<F>, batch: Batch<F>): Promise<MadeBatch<F>> {
  const { folds, contextLength, together } = batch;
  const rows = folds.length;
  const values = new Float32Array(rows * contextLength).fill(Number.NaN);
  folds.forEach((fold, row) => {
    const end = (row + 1) * contextLength;
    plan.fill(fold, values.subarray(end - plan.contextLengthOf(fold), end));
  });
  const forecasts = await plan.forecast({
    rows,
    contextLength,
    values,
    horizon: plan.horizon,
    ...(together && { together }),
  });
  return { ...batch, values, forecasts };
}

function takeBatch<F>(plan: FoldPlan<F>, { folds, contextLength, values, forecasts }: MadeBatch<F>): void {
  const width = forecasts.length / folds.length;
  folds.forEach((fold, row) => {
    const blind = values.subarray(row * contextLength, (row + 1) * contextLength).every(Number.isNaN);
    plan.take(fold, blind ? null : forecasts.subarray(row * width, (row + 1) * width));
  });
}
