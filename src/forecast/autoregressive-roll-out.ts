import type { ForecastBatch, ForecastLimits, QuantileForecast, QuantileForecaster } from './forecaster.ts';

export interface RolledOutLimits extends ForecastLimits {
  /** Longest horizon of one pass; longer ones are rolled out. */
  readonly passHorizonMax: number;
}

export interface RolledOutForecaster extends QuantileForecaster {
  readonly limits: RolledOutLimits;
}

/**
 * A forecaster of any horizon. Beyond one pass the medians become the context of the next pass. What was not known at the end of a pass is not
 * known after it either: distances of quantiles from the median go on from there, as those of independent errors do (roots of summed squares).
 */
export function rollOut(forecaster: QuantileForecaster): RolledOutForecaster {
  const { limits } = forecaster;
  return {
    limits: { ...limits, horizonMax: Number.MAX_SAFE_INTEGER, passHorizonMax: limits.horizonMax },
    async forecast(batch, signal) {
      if (batch.horizon <= limits.horizonMax) return forecaster.forecast(batch, signal);
      const result = new Float32Array(batch.rows * batch.horizon);
      await passes(batch, limits, async (pass, start) => {
        const medians = await forecaster.forecast(pass, signal);
        place(result, medians, batch, pass.horizon, start, 1);
        return medians;
      });
      return result;
    },
    async forecastQuantiles(batch, signal) {
      if (batch.horizon <= limits.horizonMax) return forecaster.forecastQuantiles(batch, signal);
      let result: QuantileForecast | null = null;
      await passes(batch, limits, async (pass, start) => {
        const { levels, values } = await forecaster.forecastQuantiles(pass, signal);
        result ??= { levels, values: new Float32Array(batch.rows * batch.horizon * levels.length) };
        const median = levels.indexOf(0.5);
        const medians = new Float32Array(batch.rows * pass.horizon).map((_, i) => values[i * levels.length + median]);
        if (start > 0) widen(values, batch, pass.horizon, start, result, median);
        place(result.values, values, batch, pass.horizon, start, levels.length);
        return medians;
      });
      return result!;
    },
  };
}

/** Runs passes until the horizon is reached. `run` gives the medians of a pass. */
async function passes(
  batch: ForecastBatch,
  limits: ForecastLimits,
  run: (pass: ForecastBatch, start: number) => Promise<Float32Array>,
): Promise<void> {
  const { rows, horizon, together } = batch;
  let { contextLength, values } = batch;
  for (let start = 0; start < horizon; start += limits.horizonMax) {
    const pass = {
      rows,
      contextLength,
      values,
      horizon: Math.min(limits.horizonMax, horizon - start),
      ...(together && { together }),
    };
    const medians = await run(pass, start);
    const longer = new Float32Array(rows * limits.context).fill(Number.NaN);
    for (let row = 0; row < rows; row++) {
      const seen = values.subarray(row * contextLength, (row + 1) * contextLength);
      const made = medians.subarray(row * pass.horizon, (row + 1) * pass.horizon);
      append(longer.subarray(row * limits.context, (row + 1) * limits.context), seen, made);
    }
    values = longer;
    contextLength = limits.context;
  }
}

/**
 * Fills `context` from its end: what was forecast, before it what was seen, as far as there is room. Where nothing was seen the forecast says nothing:
 * others in its group must not take it for observations.
 */
function append(context: Float32Array, seen: Float32Array, made: Float32Array): void {
  if (seen.every(Number.isNaN)) return;
  const madeKept = Math.min(made.length, context.length);
  const seenKept = Math.min(seen.length, context.length - madeKept);
  context.set(made.subarray(made.length - madeKept), context.length - madeKept);
  context.set(seen.subarray(seen.length - seenKept), context.length - madeKept - seenKept);
}

function place(
  result: Float32Array,
  pass: Float32Array,
  { rows, horizon }: ForecastBatch,
  passHorizon: number,
  start: number,
  levels: number,
): void {
  for (let row = 0; row < rows; row++) {
    const from = row * passHorizon * levels;
    result.set(pass.subarray(from, from + passHorizon * levels), (row * horizon + start) * levels);
  }
}

/** Adds the uncertainty of the last step before `start` to every quantile of the pass, in place. */
function widen(
  pass: Float32Array,
  { rows, horizon }: ForecastBatch,
  passHorizon: number,
  start: number,
  { levels, values: before }: QuantileForecast,
  median: number,
): void {
  for (let row = 0; row < rows; row++) {
    const last = (row * horizon + start - 1) * levels.length;
    for (let step = 0; step < passHorizon; step++) {
      const at = (row * passHorizon + step) * levels.length;
      const centre = pass[at + median];
      for (let level = 0; level < levels.length; level++) {
        const distance = Math.hypot(pass[at + level] - centre, before[last + level] - before[last + median]);
        pass[at + level] = centre + Math.sign(level - median) * distance;
      }
    }
  }
}
