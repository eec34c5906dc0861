import type { ForecastBatch, ForecastLimits, QuantileForecast, QuantileForecaster } from './forecaster.ts';

interface RolledOutLimits extends ForecastLimits {
  /** Longest horizon of one pass; longer ones are rolled out. */
  readonly passHorizonMax: number;
}

export interface RolledOutForecaster extends QuantileForecaster {
  readonly limits: RolledOutLimits;
}

/**
 * A forecaster of any horizon. Beyond one pass the medians are appended to the context of the next pass. The
 * uncertainty at the end of a pass is carried over: distances of quantiles from the median add up as those of
 * independent errors (root of the sum of squares).
 */
export function rollOut(forecaster: QuantileForecaster): RolledOutForecaster {
  const { limits } = forecaster;
  return {
    limits: { ...limits, horizonMax: Number.MAX_SAFE_INTEGER, passHorizonMax: limits.horizonMax },
    async forecast(batch, signal) {
      if (batch.horizon <= limits.horizonMax) return forecaster.forecast(batch, signal);
      const result = new Float32Array(batch.rows * batch.horizon);
      await runPasses(batch, limits, async (pass, start) => {
        const medians = await forecaster.forecast(pass, signal);
        copyPass(medians, result, { batch, start, steps: pass.horizon, width: 1 });
        return medians;
      });
      return result;
    },
    async forecastQuantiles(batch, signal) {
      if (batch.horizon <= limits.horizonMax) return forecaster.forecastQuantiles(batch, signal);
      let result: QuantileForecast | null = null;
      await runPasses(batch, limits, async (pass, start) => {
        const { levels, values } = await forecaster.forecastQuantiles(pass, signal);
        result ??= { levels, values: new Float32Array(batch.rows * batch.horizon * levels.length) };
        const median = levels.indexOf(0.5);
        const medians = new Float32Array(batch.rows * pass.horizon).map((_, i) => values[i * levels.length + median]);
        const place = { batch, start, steps: pass.horizon, width: levels.length };
        if (start > 0) widenPass(values, result.values, { ...place, median });
        copyPass(values, result.values, place);
        return medians;
      });
      return result!;
    },
  };
}

/** Runs passes until the horizon is reached. `run` returns the medians of a pass. */
async function runPasses(
  batch: ForecastBatch,
  limits: ForecastLimits,
  run: (pass: ForecastBatch, start: number) => Promise<Float32Array>,
): Promise<void> {
  const { rows, horizon, isGroup } = batch;
  let { contextLength, values } = batch;
  for (let start = 0; start < horizon; start += limits.horizonMax) {
    const pass = {
      rows,
      contextLength,
      values,
      horizon: Math.min(limits.horizonMax, horizon - start),
      ...(isGroup && { isGroup }),
    };
    const medians = await run(pass, start);
    const longer = new Float32Array(rows * limits.context).fill(Number.NaN);
    for (let row = 0; row < rows; row++) {
      const observed = values.subarray(row * contextLength, (row + 1) * contextLength);
      const forecast = medians.subarray(row * pass.horizon, (row + 1) * pass.horizon);
      fillContext(longer.subarray(row * limits.context, (row + 1) * limits.context), observed, forecast);
    }
    values = longer;
    contextLength = limits.context;
  }
}

/**
 * Fills `context` from its end with the forecast, and with the observations before it as far as there is room. A row
 * without observations stays empty: other members of its group must not use its forecast as observations.
 */
function fillContext(context: Float32Array, observed: Float32Array, forecast: Float32Array): void {
  if (observed.every(Number.isNaN)) return;
  const forecastCount = Math.min(forecast.length, context.length);
  const observedCount = Math.min(observed.length, context.length - forecastCount);
  context.set(forecast.subarray(forecast.length - forecastCount), context.length - forecastCount);
  context.set(observed.subarray(observed.length - observedCount), context.length - forecastCount - observedCount);
}

interface PassPlace {
  readonly batch: ForecastBatch;
  /** First step of the pass. */
  readonly start: number;
  readonly steps: number;
  readonly width: number;
}

function copyPass(pass: Float32Array, result: Float32Array, { batch, start, steps, width }: PassPlace): void {
  for (let row = 0; row < batch.rows; row++) {
    const from = row * steps * width;
    result.set(pass.subarray(from, from + steps * width), (row * batch.horizon + start) * width);
  }
}

/** Adds the uncertainty of the last step before the pass to every quantile of the pass, in place. */
function widenPass(
  pass: Float32Array,
  before: Float32Array,
  { batch, start, steps, width, median }: PassPlace & { readonly median: number },
): void {
  for (let row = 0; row < batch.rows; row++) {
    const last = (row * batch.horizon + start - 1) * width;
    for (let step = 0; step < steps; step++) {
      const at = (row * steps + step) * width;
      const centre = pass[at + median];
      for (let level = 0; level < width; level++) {
        const distance = Math.hypot(pass[at + level] - centre, before[last + level] - before[last + median]);
        pass[at + level] = centre + Math.sign(level - median) * distance;
      }
    }
  }
}
