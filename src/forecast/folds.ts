import { contextBucket } from './context-length.ts';
import type { ForecastBatch, ForecastLimits } from './forecaster.ts';

/** Forecasts at many cutoffs (folds) of one or more series. */
export interface FoldPlan<F> {
  readonly folds: readonly F[];
  readonly horizon: number;
  /** Context length of a fold; at most the longest bucket. */
  contextLengthOf(fold: F): number;
  /** Writes the context, oldest first, NaN where missing, into a target of that length. */
  fill(fold: F, target: Float32Array): void;
  /** Runs the model: `rows * horizon` numbers, or that times the number of quantiles. */
  forecast(batch: ForecastBatch): Promise<Float32Array>;
  /** Time of a fold's cutoff. Folds of equal time are a group. Absent: every fold is forecast alone. */
  readonly timeOf?: ((fold: F) => number) | undefined;
  /** Receives a fold's forecast; null where its context has no observation. */
  take(fold: F, forecast: Float32Array | null): void;
}

/** Rows of one batch; bounds the memory of a large request. */
const BATCH_ROWS_MAX = 512;
/**
 * Rows in flight: while some are forecast, others are filled and taken. A small request is in flight as a whole and
 * uses all threads.
 */
const ROWS_IN_FLIGHT_MAX = 2 * BATCH_ROWS_MAX;

interface Batch<F> {
  readonly folds: readonly F[];
  readonly contextLength: number;
  readonly isGroup: boolean;
}

interface MadeBatch<F> extends Batch<F> {
  readonly values: Float32Array;
  readonly forecasts: Float32Array;
}

/** Makes the forecasts of a plan, in batches of equal context length or in groups. */
export async function forecastFolds<F>(
  plan: FoldPlan<F>,
  { contextBuckets }: Pick<ForecastLimits, 'contextBuckets'>,
): Promise<void> {
  const inFlight: { readonly rows: number; readonly made: Promise<MadeBatch<F>> }[] = [];
  let rows = 0;
  // In the order of submission: sums of floating-point numbers depend on the order.
  const takeFirst = async () => {
    const first = inFlight.shift()!;
    takeBatch(plan, await first.made);
    rows -= first.rows;
  };
  for (const batch of batchesOf(plan, contextBuckets)) {
    while (rows + batch.folds.length > ROWS_IN_FLIGHT_MAX) await takeFirst();
    const made = makeBatch(plan, batch);
    // A rejection is handled when the batch is taken. It must not count as unhandled before, or when an earlier batch
    // fails.
    made.catch(() => {});
    inFlight.push({ rows: batch.folds.length, made });
    rows += batch.folds.length;
  }
  while (inFlight.length > 0) await takeFirst();
}

function batchesOf<F>({ folds, contextLengthOf, timeOf }: FoldPlan<F>, contextBuckets: readonly number[]): Batch<F>[] {
  const lengthOf = (fold: F) => contextBucket(contextLengthOf(fold), contextBuckets);
  if (timeOf !== undefined) {
    const groups = [...Map.groupBy(folds, timeOf).values()];
    return groups.map((members) => {
      return { folds: members, contextLength: Math.max(...members.map(lengthOf)), isGroup: true };
    });
  }
  return [...Map.groupBy(folds, lengthOf)].flatMap(([contextLength, ofLength]) =>
    Array.from({ length: Math.ceil(ofLength.length / BATCH_ROWS_MAX) }, (_, i) => {
      return { folds: ofLength.slice(i * BATCH_ROWS_MAX, (i + 1) * BATCH_ROWS_MAX), contextLength, isGroup: false };
    }),
  );
}

async function makeBatch<F>(plan: FoldPlan<F>, batch: Batch<F>): Promise<MadeBatch<F>> {
  const { folds, contextLength, isGroup } = batch;
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
    ...(isGroup && { isGroup }),
  });
  return { ...batch, values, forecasts };
}

function takeBatch<F>(plan: FoldPlan<F>, { folds, contextLength, values, forecasts }: MadeBatch<F>): void {
  const width = forecasts.length / folds.length;
  folds.forEach((fold, row) => {
    const isEmpty = values.subarray(row * contextLength, (row + 1) * contextLength).every(Number.isNaN);
    plan.take(fold, isEmpty ? null : forecasts.subarray(row * width, (row + 1) * width));
  });
}
