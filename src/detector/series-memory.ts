import { firstCutoff } from './cutoff-grid.ts';
import type { DetectionSettings } from './settings.ts';

/**
 * How one series' numbers lie in memory: one block of float32 and one of float64 in slabs shared by many series,
 * since two typed arrays a series would cost more than their contents.
 *
 *   float32: [ context ring | residual ring ]
 *   float64: [ forecast sums of positions windowStart.. | sums of forecasts that join after the window closed ]
 */
export interface SeriesLayout {
  readonly contextCapacity: number;
  readonly residualCapacity: number;
  readonly forecastLength: number;
  readonly laterLength: number;
  readonly floats: number;
  readonly doubles: number;
  /** Closed windows that together refill both rings. */
  readonly windowsKept: number;
}

export function seriesLayout(settings: DetectionSettings): SeriesLayout {
  const { h, detectionSize, stepSize, calibrationSize, context } = settings;
  const overlapping = stepSize < h;
  const contextCapacity = Math.max(context, detectionSize);
  const residualCapacity = calibrationSize === 'all' ? 0 : calibrationSize;
  const forecastLength = overlapping ? detectionSize + h : detectionSize;
  const laterLength = overlapping ? detectionSize : 0;
  const residualsPerWindow = Math.max(1, (detectionSize / stepSize) * Math.min(h, stepSize));
  return {
    contextCapacity,
    residualCapacity,
    forecastLength,
    laterLength,
    floats: contextCapacity + residualCapacity,
    doubles: forecastLength + laterLength,
    windowsKept: Math.max(Math.ceil(contextCapacity / detectionSize), Math.ceil(residualCapacity / residualsPerWindow)),
  };
}

/** How many positions in [0, end) have a forecast on the stream's grid. */
export function forecastedPositions(end: number, settings: DetectionSettings): number {
  const { h, stepSize } = settings;
  const first = firstCutoff(settings);
  if (end <= first) return 0;
  if (stepSize <= h) return end - first;
  const cutoffs = Math.floor((end - 1 - first) / stepSize) + 1;
  const last = first + (cutoffs - 1) * stepSize;
  return (cutoffs - 1) * h + Math.min(h, end - last);
}

/** One series' place in a slab. */
export interface SeriesBlock {
  readonly slab: SeriesSlab;
  readonly floatStart: number;
  readonly doubleStart: number;
}

export interface SeriesSlab {
  readonly floats: Float32Array;
  readonly doubles: Float64Array;
}

const BLOCKS_PER_SLAB = 64;

/** Hands out blocks; a released block is used again. */
export class SeriesMemory {
  readonly layout: SeriesLayout;
  readonly #free: SeriesBlock[] = [];

  constructor(layout: SeriesLayout) {
    this.layout = layout;
  }

  /** A block in which nothing was observed: NaN contexts and residuals, no forecasts. */
  allocate(): SeriesBlock {
    const block = this.#free.pop() ?? this.#grow();
    const { layout } = this;
    block.slab.floats.fill(Number.NaN, block.floatStart, block.floatStart + layout.floats);
    block.slab.doubles.fill(0, block.doubleStart, block.doubleStart + layout.doubles);
    return block;
  }

  release(block: SeriesBlock): void {
    this.#free.push(block);
  }

  #grow(): SeriesBlock {
    const { floats, doubles } = this.layout;
    const slab: SeriesSlab = {
      floats: new Float32Array(BLOCKS_PER_SLAB * floats),
      doubles: new Float64Array(BLOCKS_PER_SLAB * doubles),
    };
    for (let i = BLOCKS_PER_SLAB - 1; i >= 0; i--) {
      this.#free.push({ slab, floatStart: i * floats, doubleStart: i * doubles });
    }
    return this.#free.pop()!;
  }
}
