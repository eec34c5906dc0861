import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Model } from '../catalog.ts';

/** A graph beside forecast.onnx. */
export interface GraphFile {
  /** File name, in the same folder. */
  readonly graph: string;
  /** SHA-256, lower-case hex. */
  readonly sha256: string;
}

/**
 * What a model folder says of fine-tuning. All weights are one vector, theta. Neither graph holds weights of its own.
 *
 * `step` is one step of Adam on a batch of fixed shape: theta, m, v, mask [P]; values, observed [B, T]; target, weight [B, H]; series [B, 3]
 * (what was taken away from values and targets, deviation and mean magnitude of the series); loss [7], one-hot in the order of
 * TUNING_LOSSES; rates [3]: learning rate, 1 - beta_1^n, 1 - beta_2^n. It gives theta_next, m_next, v_next [P] and loss_value, that of theta.
 *
 * `forecast` is the forecasting graph with one more input, theta.
 */
export interface TuningGraphs {
  readonly step: GraphFile;
  /** Its digest names what weights fit: those tuned for another one are of no use. */
  readonly forecast: GraphFile;
  /** B, T and H. */
  readonly batch: number;
  readonly context: number;
  readonly horizon: number;
  /** Adam's. */
  readonly betas: readonly [number, number];
  /** The parts of theta: the byte of forecast.onnx at which each begins (float32, little-endian), its length, and the depth from which on it is tuned. */
  readonly weights: readonly (readonly [at: number, length: number, depth: number])[];
}

/** The order of the one-hot input `loss`. */
export const TUNING_LOSSES = ['default', 'mae', 'mse', 'rmse', 'mape', 'smape', 'poisson'] as const;
export type TuningLoss = (typeof TUNING_LOSSES)[number];

export const DEPTH_MAX = 5;

/** A model that can be fine-tuned. */
export interface TunableModel extends Model {
  readonly tuning: TuningGraphs & { readonly stepPath: string; readonly forecastPath: string };
}

/** Length of theta. */
export function weightCount({ weights }: Pick<TuningGraphs, 'weights'>): number {
  return weights.reduce((sum, [, length]) => sum + length, 0);
}

/** 1 where a weight may change at this depth, else 0. */
export function depthMask({ weights }: Pick<TuningGraphs, 'weights'>, depth: number): Float32Array {
  const mask = new Float32Array(weightCount({ weights }));
  let start = 0;
  for (const [, length, from] of weights) {
    if (from <= depth) mask.fill(1, start, start + length);
    start += length;
  }
  return mask;
}

/** Theta as the model was pretrained, read out of forecast.onnx. */
export async function readWeights(graphPath: string, { weights }: Pick<TuningGraphs, 'weights'>): Promise<Float32Array> {
  const theta = new Float32Array(weightCount({ weights }));
  const bytes = new Uint8Array(theta.buffer);
  const file = await open(graphPath);
  try {
    let start = 0;
    for (const [at, length] of weights) {
      await file.read(bytes, start, length * Float32Array.BYTES_PER_ELEMENT, at);
      start += length * Float32Array.BYTES_PER_ELEMENT;
    }
  } finally {
    await file.close();
  }
  return theta;
}
