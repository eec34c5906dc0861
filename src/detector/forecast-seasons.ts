import { blocksBefore, correctionOf, type Decimation, isDecimated, lookback, shareOf, trialsOf } from './decimation.ts';
import type { QuantileForecaster } from './forecast.ts';
import { type ForecastPoint, type ForecastSettings, forecastFrom, type PointForecast } from './forecast-from.ts';

export interface SeasonalSettings extends ForecastSettings {
  /** How the model is shown seasons that are longer than its context; null: not at all. */
  readonly decimation: Decimation | null;
}

/** Points forecast at a time: with their trials they make full batches, and the blocks of a large request are not held all at once. */
const POINTS_MAX = 128;

/** Values before a cutoff that a forecast depends on. */
export function lookbackOf({ context, decimation }: Pick<SeasonalSettings, 'context' | 'decimation'>): number {
  return decimation === null ? context : lookback(decimation, context);
}

/** Forecasts that one point may need, those of blocks and trials included. */
export function forecastsPerPoint(h: number, decimation: Decimation | null): number {
  const decimated = decimation !== null && isDecimated(Number.POSITIVE_INFINITY, h, decimation);
  return decimated ? 2 * (1 + trialsOf(h, decimation).offsets.length) : 1;
}

/**
 * Forecasts as `forecastFrom` does, and moves each forecast towards what the same model says about the series in blocks, by as much as would have
 * served the same series just before. Intervals move along, their widths stay. A forecast depends on the last `lookbackOf` values before its
 * cutoff alone, and never on another point.
 */
export async function forecastSeasons(
  points: readonly ForecastPoint[],
  settings: SeasonalSettings,
  forecaster: QuantileForecaster,
  signal?: AbortSignal,
): Promise<PointForecast[]> {
  const { decimation } = settings;
  if (decimation === null) return forecastFrom(points, settings, forecaster, signal);
  const forecasts: PointForecast[] = [];
  for (let start = 0; start < points.length; start += POINTS_MAX) {
    const some = points.slice(start, start + POINTS_MAX);
    forecasts.push(...(await forecastSome(some, { ...settings, decimation }, forecaster, signal)));
  }
  return forecasts;
}

async function forecastSome(
  points: readonly ForecastPoint[],
  settings: SeasonalSettings & { readonly decimation: Decimation },
  forecaster: QuantileForecaster,
  signal?: AbortSignal,
): Promise<PointForecast[]> {
  const { h, decimation } = settings;
  const single = await forecastFrom(points, settings, forecaster, signal);
  const decimated = points.flatMap((point, index) =>
    isDecimated(point.cutoff, h, decimation) ? [{ point, index }] : [],
  );
  if (decimated.length === 0) return single;
  const { h: trialH, offsets } = trialsOf(h, decimation);
  const tried = decimated.flatMap(({ point }) =>
    offsets.map((offset): ForecastPoint => ({ values: point.values, cutoff: point.cutoff - offset })),
  );
  const medians = async (from: readonly ForecastPoint[], steps: number, context: number) => {
    const made = await forecastFrom(from, { h: steps, context, probabilities: [] }, forecaster, signal);
    return made.map(({ mean }) => mean);
  };
  const inBlocks = (from: readonly ForecastPoint[], steps: number) => {
    const blocks = from.map(({ values, cutoff }): ForecastPoint => {
      const means = blocksBefore(values, cutoff, decimation);
      return { values: means, cutoff: means.length };
    });
    return medians(blocks, Math.ceil(steps / decimation.stride), decimation.blocks);
  };
  const triedSingle = await medians(tried, trialH, settings.context);
  const triedBlocks = await inBlocks(tried, trialH);
  const blocks = await inBlocks(
    decimated.map(({ point }) => point),
    h,
  );
  decimated.forEach(({ index }, i) => {
    const trials = offsets.map((_, t) => {
      const place = i * offsets.length + t;
      const { values, cutoff } = tried[place]!;
      const actual = Float64Array.from({ length: trialH }, (_, k) => values[cutoff + k]!);
      const correction = correctionOf(triedSingle[place]!, triedBlocks[place]!, decimation);
      return { actual, single: triedSingle[place]!, correction };
    });
    const correction = correctionOf(single[index]!.mean, blocks[i]!, decimation);
    if (correction.every(Number.isFinite)) single[index] = moved(single[index]!, correction, shareOf(trials));
  });
  return single;
}

/** The forecast, its quantiles with it, moved by a share of the correction. */
function moved({ mean, quantiles }: PointForecast, correction: Float64Array, share: number): PointForecast {
  const move = (numbers: Float64Array) => numbers.map((value, k) => value + share * correction[k]!);
  return { mean: move(mean), quantiles: quantiles.map(move) };
}
