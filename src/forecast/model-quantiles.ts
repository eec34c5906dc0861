import { clampToFloat32 } from './float32.ts';
import { forecastFolds } from './folds.ts';
import type { QuantileForecaster } from './forecaster.ts';

/** A place in a series from which the next `h` values are forecast; only what lies before the cutoff is seen. */
export interface ForecastPoint {
  readonly values: ArrayLike<number>;
  readonly cutoff: number;
  /** Points of equal time are forecast together; all of a call have one, or none has. */
  readonly time?: number;
  /** What forecasts of these values have to meet, as long as they, where that is something else. */
  readonly targets?: ArrayLike<number>;
}

/** What the model says of one point. */
export interface ModelQuantiles {
  /** `h * levels.length` numbers, ascending for each step, as distances from `origin`. */
  readonly values: Float32Array;
  readonly levels: readonly number[];
  readonly origin: number;
}

export interface ModelQuantileSettings {
  readonly h: number;
  /** Observations before a cutoff that the model may see. */
  readonly context: number;
  /** `median` asks for no other quantile. */
  readonly quantiles: 'all' | 'median';
}

/**
 * What the model says of many points; `take` hears of each but those that have nothing observed before their cutoff. A context is given to the
 * model as distances from its first observation: a history that was cut to it gives the same numbers. Of points with a time, what is said
 * depends on those of equal time, too.
 */
export async function forecastModelQuantiles<P extends ForecastPoint>(
  points: readonly P[],
  { h, context, quantiles }: ModelQuantileSettings,
  forecaster: QuantileForecaster,
  signal: AbortSignal | undefined,
  take: (point: P, quantiles: ModelQuantiles) => void,
): Promise<void> {
  let levels: readonly number[] = [0.5];
  const together = points[0]?.time !== undefined;
  await forecastFolds(
    {
      timeOf: together ? ({ point }) => point.time! : undefined,
      folds: points.map((point) => ({ point, ...contextStart(point, context) })),
      horizon: h,
      contextLengthOf: ({ point, start }) => point.cutoff - start,
      fill({ point, start, origin }, target) {
        for (let i = 0; i < target.length; i++) target[i] = clampToFloat32(point.values[start + i] - origin);
      },
      async forecast(batch) {
        if (quantiles === 'median') return forecaster.forecast(batch, signal);
        const made = await forecaster.forecastQuantiles(batch, signal);
        levels = made.levels;
        return made.values;
      },
      take({ point, origin }, values) {
        if (values !== null) take(point, { values, levels, origin });
      },
    },
    forecaster.limits,
  );
}

function contextStart({ values, cutoff }: ForecastPoint, context: number): { start: number; origin: number } {
  const start = Math.max(0, cutoff - context);
  const end = Math.min(cutoff, values.length);
  for (let i = start; i < end; i++) if (!Number.isNaN(values[i])) return { start, origin: values[i] };
  return { start, origin: Number.NaN };
}
