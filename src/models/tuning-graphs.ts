import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** A file of a model folder, with its digest. */
export interface GraphFile {
  /** File name, in the same folder. */
  readonly graph: string;
  /** SHA-256, lower-case hex. */
  readonly sha256: string;
}

/**
 * The fine-tuning part of a manifest. All weights are one vector, theta. Neither graph contains weights.
 *
 * `step` is one update of Adam on a batch of fixed shape. Inputs: theta, m, v, mask [P]; values, observed [B, T];
 * target, weight [B, H]; series [B, 3] (origin that was subtracted, deviation and mean magnitude of the series); loss
 * [7], one-hot in the order of TUNING_LOSSES; rates [3]: learning rate, 1 - beta_1^n, 1 - beta_2^n. Outputs:
 * theta_next, m_next, v_next [P] and row_losses [B], the losses of theta.
 *
 * `forecast` is the forecasting graph with theta as an additional input.
 */
export interface TuningGraphs {
  readonly step: GraphFile;
  /** Tuned weights belong to the digest of this graph. */
  readonly forecast: GraphFile;
  /** B, T and H. */
  readonly batch: number;
  readonly context: number;
  readonly horizon: number;
  /** Adam's. */
  readonly betas: readonly [number, number];
  /** The file with the pretrained theta: forecast.onnx, or a separate one. */
  readonly source: GraphFile;
  /**
   * The parts of theta: byte offset in `source` (float32, little-endian), length, and the least depth that tunes it.
   */
  readonly weights: readonly (readonly [at: number, length: number, depth: number])[];
  /** Reference values by PyTorch on the batch of the tests: by loss, three row losses and the sum of |m|. */
  readonly golden?: Readonly<Record<string, readonly number[]>>;
}

/** The order of the one-hot input `loss`. */
export const TUNING_LOSSES = ['default', 'mae', 'mse', 'rmse', 'mape', 'smape', 'poisson'] as const;
export type TuningLoss = (typeof TUNING_LOSSES)[number];

export const DEPTH_MAX = 5;

/** Length of theta. */
export function weightCount({ weights }: Pick<TuningGraphs, 'weights'>): number {
  return weights.reduce((sum, [, length]) => sum + length, 0);
}

/** Checks `tuning` of a manifest. Adds every problem, with its key and the expected value. */
export function checkTuning(json: unknown, problems: string[]): TuningGraphs {
  const tuning = (typeof json === 'object' && json !== null ? json : {}) as Record<string, unknown>;
  const need = (key: string, expected: string, holds: boolean) => {
    if (!holds) problems.push(`tuning.${key} must be ${expected}, got ${JSON.stringify(tuning[key]) ?? 'nothing'}`);
  };
  for (const key of ['step', 'forecast', 'source'])
    need(key, 'graph and sha256 of a file in the same folder', isGraphFile(tuning[key]));
  for (const key of ['batch', 'context', 'horizon']) need(key, 'an integer from 1', isCount(tuning[key]));
  const { betas, weights } = tuning;
  need(
    'betas',
    'two numbers from 0 to below 1',
    Array.isArray(betas) &&
      betas.length === 2 &&
      isListOf(betas, (beta) => typeof beta === 'number' && beta >= 0 && beta < 1),
  );
  need('weights', 'lists of a byte, a length and a depth from 1 to 5', isListOf(weights, isPart));
  return tuning as unknown as TuningGraphs;
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 1;

function isListOf(value: unknown, holds: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(holds);
}

function isPart(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 3) return false;
  const [at, length, depth] = value;
  return Number.isSafeInteger(at) && at >= 0 && isCount(length) && isCount(depth) && depth <= DEPTH_MAX;
}

export function isGraphFile(value: unknown): boolean {
  const { graph, sha256 } = (value ?? {}) as { readonly graph?: unknown; readonly sha256?: unknown };
  if (typeof graph !== 'string' || typeof sha256 !== 'string') return false;
  return graph !== '' && graph !== '..' && basename(graph) === graph && /^[0-9a-f]{64}$/.test(sha256);
}

/** 1 for weights that are tuned at this depth, else 0. */
export function depthMask({ weights }: Pick<TuningGraphs, 'weights'>, depth: number): Float32Array {
  const mask = new Float32Array(weightCount({ weights }));
  let start = 0;
  for (const [, length, from] of weights) {
    if (from <= depth) mask.fill(1, start, start + length);
    start += length;
  }
  return mask;
}

/** The pretrained theta. @param graphPath of the forecasting graph */
export async function readWeights(
  graphPath: string,
  { source, weights }: Pick<TuningGraphs, 'source' | 'weights'>,
): Promise<Float32Array> {
  const theta = new Float32Array(weightCount({ weights }));
  const bytes = new Uint8Array(theta.buffer);
  const file = await open(join(dirname(graphPath), source.graph));
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
