import { contextBucket } from './context-length.ts';
import type { ForecastBatch, ForecastLimits } from './forecaster.ts';

/** Every quantile of a model, or the median alone. */
type Quantiles = 'all' | 'median';

/** Forecasts at many cutoffs (folds) of one or more series. */
export interface FoldPlan<F> {
  readonly folds: readonly F[];
  readonly horizon: number;
  /** Context length of a fold; at most the longest bucket. */
  contextLengthOf(fold: F): number;
  /** Writes the context, oldest first, NaN if missing, into a target of that length. */
  fill(fold: F, target: Float32Array): void;
  /** Runs the model: `rows * horizon` numbers, or that times the number of quantiles. */
  forecast(batch: ForecastBatch, quantiles: Quantiles): Promise<Float32Array>;
  /** The quantiles that are wanted of a fold; absent: the same of all folds. Those of a group are the same. */
  readonly quantilesOf?: ((fold: F) => Quantiles) | undefined;
  /** Time of a fold's cutoff. Folds of equal time are a group. Absent: every fold is forecast alone. */
  readonly timeOf?: ((fold: F) => number) | undefined;
  /** Rows in flight at most: one batch at least, two by default. */
  readonly rowsInFlightMax?: number | undefined;
  /** Receives a fold's forecast; null if its context has no observation. */
  accept(fold: F, forecast: Float32Array | null): void;
}

/** Rows of one batch; bounds the memory of a large request. */
export const BATCH_ROWS_MAX = 512;
/**
 * Rows in flight: while some are forecast, others are filled and accepted. A small request is in flight as a whole and
 * uses all threads.
 */
const ROWS_IN_FLIGHT_MAX = 2 * BATCH_ROWS_MAX;

interface Batch<F> {
  readonly folds: readonly F[];
  readonly contextLength: number;
  readonly quantiles: Quantiles;
  readonly isGroup: boolean;
}

interface MadeBatch<F> extends Batch<F> {
  readonly values: Float32Array;
  readonly forecasts: Float32Array;
}

/** Makes the forecasts of a plan, in batches of equal context length and quantiles, or in groups. */
export async function forecastFolds<F>(
  plan: FoldPlan<F>,
  { contextBuckets }: Pick<ForecastLimits, 'contextBuckets'>,
): Promise<void> {
  const { rowsInFlightMax = ROWS_IN_FLIGHT_MAX } = plan;
  const inFlight: { readonly rows: number; readonly made: Promise<MadeBatch<F>> }[] = [];
  let rows = 0;
  // In the order of submission: sums of floating-point numbers depend on the order.
  const acceptFirst = async () => {
    const first = inFlight.shift()!;
    acceptBatch(plan, await first.made);
    rows -= first.rows;
  };
  for (const batch of batchesOf(plan, contextBuckets)) {
    while (inFlight.length > 0 && rows + batch.folds.length > rowsInFlightMax) await acceptFirst();
    const made = makeBatch(plan, batch);
    // A rejection is handled once the batch is accepted. It must not count as unhandled before, or if an earlier
    // batch fails.
    made.catch(() => {});
    inFlight.push({ rows: batch.folds.length, made });
    rows += batch.folds.length;
  }
  while (inFlight.length > 0) await acceptFirst();
}

function batchesOf<F>(plan: FoldPlan<F>, contextBuckets: readonly number[]): Batch<F>[] {
  const { folds, timeOf, quantilesOf = () => 'median' } = plan;
  const lengthOf = (fold: F) => contextBucket(plan.contextLengthOf(fold), contextBuckets);
  const batchOf = (some: readonly F[]) => ({ folds: some, quantiles: quantilesOf(some[0]) });
  if (timeOf !== undefined) {
    const groups = [...Map.groupBy(folds, timeOf).values()];
    return groups.map((members) => {
      return { ...batchOf(members), contextLength: Math.max(...members.map(lengthOf)), isGroup: true };
    });
  }
  const alike = Map.groupBy(folds, (fold) => (quantilesOf(fold) === 'all' ? -1 : 1) * lengthOf(fold));
  return [...alike.values()].flatMap((some) => {
    // Contexts of one length are padded alike, of which a graph can make use. A series keeps its order.
    some.sort((a, b) => plan.contextLengthOf(a) - plan.contextLengthOf(b));
    return Array.from({ length: Math.ceil(some.length / BATCH_ROWS_MAX) }, (_, i) => {
      const part = some.slice(i * BATCH_ROWS_MAX, (i + 1) * BATCH_ROWS_MAX);
      return { ...batchOf(part), contextLength: lengthOf(some[0]), isGroup: false };
    });
  });
}

async function makeBatch<F>(plan: FoldPlan<F>, batch: Batch<F>): Promise<MadeBatch<F>> {
  const { folds, contextLength, quantiles, isGroup } = batch;
  const rows = folds.length;
  const values = new Float32Array(rows * contextLength).fill(Number.NaN);
  folds.forEach((fold, row) => {
    const end = (row + 1) * contextLength;
    plan.fill(fold, values.subarray(end - plan.contextLengthOf(fold), end));
  });
  const rowsOfBatch = { rows, contextLength, values, horizon: plan.horizon, ...(isGroup && { isGroup }) };
  const forecasts = await plan.forecast(rowsOfBatch, quantiles);
  return { ...batch, values, forecasts };
}

function acceptBatch<F>(plan: FoldPlan<F>, { folds, contextLength, values, forecasts }: MadeBatch<F>): void {
  const width = forecasts.length / folds.length;
  folds.forEach((fold, row) => {
    const isEmpty = !hasObservation(values, row * contextLength, (row + 1) * contextLength);
    plan.accept(fold, isEmpty ? null : forecasts.subarray(row * width, (row + 1) * width));
  });
}

/** From the end: contexts are padded at their beginning. */
function hasObservation(values: Float32Array, start: number, end: number): boolean {
  for (let i = end - 1; i >= start; i--) if (!Number.isNaN(values[i])) return true;
  return false;
}
