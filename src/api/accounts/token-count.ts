export interface TokenCount {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly finetune_tokens: number;
}

export function tokenSum({
  input_tokens: input,
  output_tokens: output,
  finetune_tokens: finetune,
}: TokenCount): number {
  return input + output + finetune;
}

interface Measured {
  readonly series: {
    readonly y: { readonly length: number };
    readonly sizes: { readonly length: number };
    readonly X?: { readonly length: number } | null | undefined;
  };
  readonly finetune_steps?: number;
}

export const OUTPUTS_OF_DETECTION = 5;
export const OUTPUTS_OF_CROSS_VALIDATION = 2;

/** One forecast and two bounds per level. */
export function outputsOfLevels(levels: number): number {
  return 1 + 2 * levels;
}

interface AnswerSize {
  readonly predicted: number;
  /** Numbers of the answer per predicted value. */
  readonly outputs: number;
  /** Values of exogenous variables over the horizon. */
  readonly future?: number;
  /** Fine-tunings of the request: one, or one per window. */
  readonly tunings?: number;
}

export function tokensOf(
  { series, finetune_steps: steps = 0 }: Measured,
  { predicted, outputs, future = 0, tunings = 1 }: AnswerSize,
): TokenCount {
  const { y, sizes, X } = series;
  const inputs = y.length * (1 + (X?.length ?? 0)) + future;
  return { input_tokens: inputs, output_tokens: predicted * outputs, finetune_tokens: steps * sizes.length * tunings };
}
