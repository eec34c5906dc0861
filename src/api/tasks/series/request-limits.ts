import { LENGTH_MIN } from '../../../models/tuning/windows.ts';
import type { BodyProblems } from '../../wire/problem.ts';

/** Numbers in one answer, where they are not bounded by the size of the request. */
const ANSWER_NUMBERS_MAX = 50_000_000;
/** Forecasts of one request, each of one pass of the model. More would take minutes and much memory. */
const FORECASTS_MAX = 3_000_000;
/** Passes of the model that one forecast may need, one after the other: about 20 ms each. */
const PASSES_MAX = 1_000;

export function checkAnswerSize(problems: BodyProblems, numbers: number): void {
  if (numbers <= ANSWER_NUMBERS_MAX) return;
  const text = `the answer would have ${numbers} numbers, more than ${ANSWER_NUMBERS_MAX}; request less at once`;
  problems.add(['h'], text);
}

/** Values of all paths of one request. */
const PATH_VALUES_MAX = 5_000_000;
/** The same with the quantiles that are requested. */
const SIMULATED_VALUES_MAX = 10_000_000;

/** @param predicted steps of all series */
export function checkPaths(
  problems: BodyProblems,
  { predicted, paths, quantiles }: Readonly<Record<'predicted' | 'paths' | 'quantiles', number>>,
): void {
  if (predicted * paths > PATH_VALUES_MAX) {
    const text =
      `n_paths ${paths} over ${predicted} steps of all series make ${predicted * paths} values, more than ` +
      `${PATH_VALUES_MAX}; send fewer series at once, or request fewer paths or steps`;
    problems.add(['n_paths'], text);
  }
  const all = predicted * (paths + quantiles);
  if (all > SIMULATED_VALUES_MAX) {
    const text =
      `n_paths ${paths} and ${quantiles} quantiles over ${predicted} steps of all series make ${all} values, more ` +
      `than ${SIMULATED_VALUES_MAX}; name fewer quantiles, or send fewer series at once`;
    problems.add(['quantiles'], text);
  }
}

export interface ModelLoad {
  readonly forecasts: number;
  /** Steps of each. */
  readonly h: number;
}

/** @param passHorizon steps of one pass of the model */
export function checkLoad(problems: BodyProblems, { forecasts, h }: ModelLoad, passHorizon: number): void {
  const passes = Math.max(1, Math.ceil(h / passHorizon));
  if (passes > PASSES_MAX) {
    const text =
      `${passes} passes of the model, one after the other, would be needed, more than ${PASSES_MAX}; ` +
      `with this model h may be at most ${PASSES_MAX * passHorizon}`;
    problems.add(['h'], text);
    return;
  }
  if (forecasts * passes <= FORECASTS_MAX) return;
  const counted = passes === 1 ? '' : ` (each of h ${h} counts ${passes} times)`;
  const text =
    `${forecasts * passes} forecasts would be needed${counted}, more than ${FORECASTS_MAX}; ` +
    'send fewer series at once, or take larger steps';
  problems.add(['series'], text);
}

/** Fewer samples do not calibrate an interval. */
const INTERVAL_SAMPLES_MIN = 8;

/** @param span values at the end of each series that are not known at its first cutoff */
export function checkIntervals(problems: BodyProblems, levels: number, sizes: readonly number[], span = 0): void {
  const short = levels > 0 ? sizes.findIndex((size) => size - span < INTERVAL_SAMPLES_MIN) : -1;
  if (short < 0) return;
  const samples = Math.max(0, sizes[short] - span);
  const where = span === 0 ? '' : ' before its first window';
  const text =
    `Minimum required ${INTERVAL_SAMPLES_MIN} samples for computing prediction intervals; ` +
    `series ${short} has ${samples}${where}`;
  problems.add(['series', 'sizes', short], text);
}

const SHORT_SERIES_PROBLEMS_MAX = 10;

/** Refuses series shorter than `needed`; the first few are listed. */
export function checkLengths(problems: BodyProblems, sizes: readonly number[], needed: number, why: string): void {
  let short = 0;
  for (let i = 0; i < sizes.length && short < SHORT_SERIES_PROBLEMS_MAX; i++) {
    if (sizes[i] >= needed) continue;
    short++;
    const text = `series ${i} has ${sizes[i]} values, too few ${why}: at least ${needed} are needed`;
    problems.add(['series', 'sizes', i], text);
  }
}

/** Fine-tuning steps of one request, over all windows; about half a second per step at worst. */
const TUNING_STEPS_MAX = 1_000;

interface TunedRequest {
  readonly series: { readonly sizes: readonly number[] };
  readonly finetune_steps?: number;
}

/** @param tunings fine-tunings of the request: one, or one per window */
export function checkTuningSteps(
  problems: BodyProblems,
  { series: { sizes }, finetune_steps: steps = 0 }: TunedRequest,
  tunings = 1,
): void {
  if (steps === 0) return;
  const path = ['finetune_steps'];
  if (!sizes.some((size) => size >= LENGTH_MIN)) {
    problems.add(path, `fine-tuning needs a series of at least ${LENGTH_MIN} values`);
    return;
  }
  const all = steps * tunings;
  if (all <= TUNING_STEPS_MAX) return;
  const windows =
    tunings === 1 ? '' : ` (${steps} in each of ${tunings} windows; refit false tunes in the first alone)`;
  problems.add(path, `at most ${TUNING_STEPS_MAX} steps fit into one request, got ${all}${windows}`);
}

/** Features whose relevance one request may weigh. */
const FEATURES_MAX = 75;
/** Values of all of them. */
const FEATURE_VALUES_MAX = 1_000_000;

export function checkFeatures(problems: BodyProblems, features: readonly Float64Array[]): void {
  const path = ['series', 'X'];
  if (features.length > FEATURES_MAX) {
    problems.add(path, `X has ${features.length} features; at most ${FEATURES_MAX} can be explained at once`);
  }
  const values = features.reduce((sum, { length }) => sum + length, 0);
  if (values > FEATURE_VALUES_MAX) {
    const text = `the features have ${values} values together; at most ${FEATURE_VALUES_MAX} can be explained at once`;
    problems.add(path, text);
  }
}
